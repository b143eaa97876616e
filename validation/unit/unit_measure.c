/* Times of calls: their summary, and how they are thinned out. */
#include "measure.h"
#include "unit.h"

static struct timing summary_of(size_t room, size_t calls, double (*time)(size_t call))
{
    struct samples samples;
    struct timing timing;
    assert_true(samples_open(&samples, room));
    for (size_t i = 0; i < calls; i++)
        samples_add(&samples, time(i));
    assert_true(samples.kept <= samples.room && samples.count == calls);
    summarise(&samples, &timing);
    free(samples.seconds);
    return timing;
}

static double ascending(size_t call)
{
    return 1 + (double)call;
}

TEST(summary_of_few)
{
    const struct timing timing = summary_of(5, 5, ascending);
    assert_int_equal(timing.calls, 5);
    assert_true(timing.min == 1 && timing.max == 5 && timing.mean == 3 && timing.median == 3);
    assert_true(timing.p25 == 2 && timing.p75 == 4);
    assert_true(fabs(timing.stdev - sqrt(2.5)) < 1e-15);
    assert_true(summary_of(1, 1, ascending).stdev == 0);
}

/* Counts, mean and extremes are of all calls, quantiles of those that are kept. */
TEST(summary_of_more_than_there_is_room_for)
{
    for (size_t calls = 60; calls < 70; calls++) {
        const struct timing timing = summary_of(8, calls, ascending);
        assert_int_equal(timing.calls, calls);
        assert_true(timing.min == 1 && timing.max == (double)calls);
        assert_true(fabs(timing.mean - (1 + (double)calls) / 2) < 1e-12);
        assert_true(fabs(timing.median - timing.mean) < 16);
        assert_true(timing.p25 < timing.median && timing.median < timing.p75);
    }
}

TEST(room_is_bounded)
{
    const struct timing timing = summary_of(0, 1000000, ascending);
    assert_true(fabs(timing.median / timing.mean - 1) < 1e-4);
}

RUN_TESTS(NULL, NULL)
