/* The verdict on an output, and the names that a mistyped word may have meant. */
#include "text.h"
#include "unit.h"
#include "validate.h"

enum { NX = 7, NY = 6, NZ = 5, POINTS = NX * NY * NZ };

static const struct miniapp_grid grid = {NX, NY, NZ};

/* Ones and the reference of ones; a test changes some. */
static double values[POINTS], expected[POINTS];

static int reset(void **state)
{
    for (size_t i = 0; i < POINTS; i++)
        values[i] = expected[i] = 1;
    return 0;
}

static struct verdict verdict_of(double rtol, double atol)
{
    const struct miniapp_reference reference = {expected, rtol, atol};
    struct verdict verdict;
    struct comparison comparison;
    compare_begin(&comparison, &reference);
    compare_add(&comparison, &reference, values, 0, 1);
    compare_add(&comparison, &reference, values + 1, 1, miniapp_grid_points(&grid) - 1);
    compare_end(&comparison, miniapp_field_find("dHdT"), &grid, &verdict);
    return verdict;
}

static size_t at(size_t z, size_t y, size_t x)
{
    return (z * NY + y) * NX + x;
}

static void assert_worst(const struct verdict *verdict, size_t z, size_t y, size_t x)
{
    assert_int_equal(verdict->rank, 3);
    assert_int_equal(verdict->worst_index[0], z);
    assert_int_equal(verdict->worst_index[1], y);
    assert_int_equal(verdict->worst_index[2], x);
}

TEST_AFTER(reset, equal_values_pass)
{
    const struct verdict verdict = verdict_of(0, 0);
    assert_true(verdict.passed);
    assert_true(verdict.max_abs == 0 && verdict.max_rel == 0 && verdict.largest == 1);
    assert_true(verdict.rtol == 0 && verdict.atol == 0);
    assert_worst(&verdict, 0, 0, 0);
}

/* Powers of two: every sum below is exact. */
TEST_AFTER(reset, tolerance_is_included)
{
    expected[at(4, 3, 2)] = -8;
    values[at(4, 3, 2)] = -8.75;
    assert_true(verdict_of(0, 0.75).passed);
    assert_true(verdict_of(0.09375, 0).passed); /* 0.75 / 8 */
    assert_true(verdict_of(0.0625, 0.25).passed);
    assert_false(verdict_of(0, nextafter(0.75, 0)).passed);
    assert_false(verdict_of(nextafter(0.09375, 0), 0).passed);
    assert_false(verdict_of(0.0625, 0.25 - 1e-15).passed);
    values[at(4, 3, 2)] = nextafter(-8.75, -9);
    assert_false(verdict_of(0, 0.75).passed);
}

TEST_AFTER(reset, tolerance_is_of_the_reference_not_the_value)
{
    expected[0] = 1;
    values[0] = 2;
    assert_false(verdict_of(0.5, 0).passed);
    assert_true(verdict_of(1, 0).passed);
}

TEST_AFTER(reset, worst_is_the_largest_for_its_tolerance)
{
    expected[at(1, 2, 3)] = 1000;
    values[at(1, 2, 3)] = 1000.5; /* half of its tolerance */
    values[at(4, 5, 6)] = 1.002;  /* twice */
    const struct verdict verdict = verdict_of(1e-3, 0);
    assert_false(verdict.passed);
    assert_worst(&verdict, 4, 5, 6);
    assert_true(verdict.max_abs == 0.5);
    assert_true(fabs(verdict.max_rel - 0.002) < 1e-12);
    assert_true(verdict.largest == 1000);
}

TEST_AFTER(reset, worst_is_named_where_all_passes)
{
    expected[0] = 1e-30;
    values[0] = 1e-30;
    values[at(3, 0, 1)] = 1 + 1e-6;
    const struct verdict verdict = verdict_of(1e-3, 0);
    assert_true(verdict.passed);
    assert_worst(&verdict, 3, 0, 1);
}

TEST_AFTER(reset, worst_without_tolerance_is_the_largest)
{
    values[at(0, 0, 1)] = 1.5;
    values[at(2, 0, 1)] = 7;
    values[at(3, 0, 1)] = 0;
    const struct verdict verdict = verdict_of(0, 0);
    assert_false(verdict.passed);
    assert_worst(&verdict, 2, 0, 1);
}

TEST_AFTER(reset, only_one_side_is_not_finite)
{
    const double pairs[][2] = {{NAN, 1},        {1, NAN},         {INFINITY, 1},
                               {1, INFINITY},   {-INFINITY, 0},   {NAN, 0},
                               {INFINITY, NAN}, {NAN, -INFINITY}, {INFINITY, -INFINITY}};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
        reset(NULL);
        values[at(2, 3, 4)] = pairs[i][0];
        expected[at(2, 3, 4)] = pairs[i][1];
        const double tolerances[][2] = {{0, 0}, {1, 1}, {1e300, 1e300}};
        for (size_t t = 0; t < 3; t++) {
            const struct verdict verdict = verdict_of(tolerances[t][0], tolerances[t][1]);
            assert_false(verdict.passed);
            assert_worst(&verdict, 2, 3, 4);
            assert_true(isinf(verdict.max_abs) && isinf(verdict.max_rel));
            assert_true(isfinite(verdict.largest));
        }
    }
}

/* Tolerances may overflow at a large reference: that tolerates no NaN. */
TEST_AFTER(reset, infinite_tolerance_tolerates_no_nan)
{
    expected[at(2, 3, 4)] = 1e300;
    values[at(2, 3, 4)] = NAN;
    assert_false(verdict_of(1e300, 0).passed);
    values[at(2, 3, 4)] = -1e300;
    assert_true(verdict_of(1e300, 0).passed);
}

TEST_AFTER(reset, the_same_on_both_sides_passes)
{
    const double same[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < 3; i++) {
        reset(NULL);
        values[5] = expected[5] = same[i];
        const struct verdict verdict = verdict_of(0, 0);
        assert_true(verdict.passed && verdict.max_abs == 0 && verdict.largest == 1);
    }
}

TEST_AFTER(reset, first_and_last_element_count)
{
    values[0] = 2;
    assert_false(verdict_of(0, 0.5).passed);
    reset(NULL);
    values[POINTS - 1] = 2;
    const struct verdict verdict = verdict_of(0, 0.5);
    assert_false(verdict.passed);
    assert_worst(&verdict, NZ - 1, NY - 1, NX - 1);
}

TEST_AFTER(reset, relative_difference_to_zero)
{
    expected[9] = 0;
    values[9] = 1e-20;
    const struct verdict verdict = verdict_of(0, 1e-15);
    assert_true(verdict.passed && isinf(verdict.max_rel) && verdict.max_abs == 1e-20);
}

/* ---- names ---- */

TEST(closest_names)
{
    const char *const names[] = {"eos", "isoneutral", "tke", "all"};
    const char *const words[][2] = {
        {"eso", "eos"},
        {"EOS", "eos"},
        {"isoneutrl", "isoneutral"},
        {"tk", "tke"},
        {"neutral", "isoneutral"},
        {"al", "all"},
        {"tkee", "tke"},
        {"ISO_NEUTRAL", "isoneutral"},
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        assert_string_equal(closest_match(words[i][0], names, 4), words[i][1]);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(closest_match(names[i], names, 4), names[i]);
}

TEST(closest_of_none_and_of_ties)
{
    const char *const names[] = {"ab", "cd"};
    assert_null(closest_match("ab", names, 0));
    assert_null(closest_match("", names, 2));
    assert_null(closest_match("xy", names, 2));
    assert_string_equal(closest_match("ad", names, 2), "ab");
}

/* Longer than what is compared: an answer, and no write beyond the row. */
TEST(closest_to_long_words)
{
    char word[1000];
    memset(word, 'x', sizeof(word) - 1);
    word[sizeof(word) - 1] = '\0';
    const char *const names[] = {"short", word};
    assert_string_equal(closest_match(word, names, 2), word);
    assert_null(closest_match("\xff\xfe", names, 2));
}

RUN_TESTS(NULL, NULL)
