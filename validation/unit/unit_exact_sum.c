/*
 * Sums that do not depend on their order. Built with -DREAL=double -DPHYSICS_VARIANT=host_float64.
 */
#include "exact_sum.h"
#include "unit.h"

enum { TERMS = 10000 };

static double largest(const double *terms, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = most < fabs(terms[i]) ? fabs(terms[i]) : most;
    return most;
}

/* In `blocks` blocks, each with sums of its own, from either end. */
static double sum_of(const double *terms, size_t count, size_t blocks, bool backwards)
{
    const double cutter = first_cutter(largest(terms, count));
    double all[SUM_PARTS] = {0};
    for (size_t block = 0; block < blocks; block++) {
        double own[SUM_PARTS] = {0};
        for (size_t i = block; i < count; i += blocks)
            add_exactly(&own[0], &own[1], &own[2], terms[backwards ? count - 1 - i : i], cutter);
        for (int part = 0; part < SUM_PARTS; part++)
            all[part] += own[part];
    }
    return sum_of_parts(all);
}

TEST(order_does_not_show)
{
    static double terms[TERMS];
    for (int spread = 0; spread <= 900; spread += 100) {
        for (size_t i = 0; i < TERMS; i++)
            terms[i] = ldexp(random_number(), (int)(spread * random_number()));
        const double sum = sum_of(terms, TERMS, 1, false);
        assert_true(isfinite(sum));
        for (size_t blocks = 1; blocks < 200; blocks = 3 * blocks + 1) {
            const double forwards = sum_of(terms, TERMS, blocks, false);
            const double backwards = sum_of(terms, TERMS, blocks, true);
            assert_memory_equal(&forwards, &sum, sizeof(sum));
            assert_memory_equal(&backwards, &sum, sizeof(sum));
        }
    }
}

/* Where the terms cancel, too: then the error is one of the largest term. */
TEST(is_as_good_as_more_digits)
{
    static double terms[TERMS];
    for (int cancels = 0; cancels <= 1; cancels++)
        for (int spread = 0; spread <= 60; spread += 20) {
            long double exact = 0;
            for (size_t i = 0; i < TERMS; i++) {
                const bool is_opposite = cancels && i % 2 == 1;
                terms[i] = is_opposite ? -terms[i - 1] * (1 + 1e-14 * random_number())
                                       : ldexp(random_number(), (int)(spread * random_number()));
                exact += (long double)terms[i];
            }
            const double bound =
                fabs((double)exact) * DBL_EPSILON + TERMS * largest(terms, TERMS) * 0x1p-63;
            assert_true(fabs((double)((long double)sum_of(terms, TERMS, 7, false) - exact)) <=
                        bound);
        }
}

TEST(knows_numbers_of_all_sizes)
{
    const double zeros[] = {0, -0.0, 0}, one[] = {0, 1e-30, 0}, large[] = {1e280, 1, -1e280};
    const double invalid[][2] = {{1, NAN}, {NAN, 1}, {1, INFINITY}, {-INFINITY, INFINITY}};
    assert_true(sum_of(zeros, 3, 1, false) == 0);
    assert_true(sum_of(one, 3, 2, false) == 1e-30);
    assert_true(sum_of(large, 3, 1, false) == 0); /* 1 is below the last digit */
    for (size_t i = 0; i < sizeof(invalid) / sizeof(*invalid); i++)
        assert_true(isnan(sum_of(invalid[i], 2, 1, false)));
}

RUN_TESTS(NULL, NULL)
