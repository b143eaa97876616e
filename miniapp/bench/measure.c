#include "measure.h"

#include <math.h>
#include <stdlib.h>

enum { FEWEST_CALLS = 5, MOST_CALLS = 10000 };

size_t calls_within(double seconds, double call)
{
    if (call * MOST_CALLS <= seconds)
        return MOST_CALLS;
    return call * FEWEST_CALLS >= seconds ? FEWEST_CALLS : (size_t)ceil(seconds / call);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* It interpolates linearly between the sorted values, as NumPy's percentile does. */
static double quantile(const double *sorted, size_t count, double fraction)
{
    const double place = fraction * (double)(count - 1);
    const size_t lower = (size_t)place;
    const size_t upper = lower + 1 < count ? lower + 1 : lower;
    return sorted[lower] + (place - (double)lower) * (sorted[upper] - sorted[lower]);
}

void summarise(struct samples *samples, struct timing *timing)
{
    double *seconds = samples->seconds;
    const size_t count = samples->count;
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        sum += seconds[i];
    timing->mean = sum / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (seconds[i] - timing->mean) * (seconds[i] - timing->mean);
    timing->stdev = count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
    qsort(seconds, count, sizeof(*seconds), compare);
    timing->calls = count;
    timing->min = seconds[0];
    timing->p25 = quantile(seconds, count, 0.25);
    timing->median = quantile(seconds, count, 0.5);
    timing->p75 = quantile(seconds, count, 0.75);
    timing->max = seconds[count - 1];
}
