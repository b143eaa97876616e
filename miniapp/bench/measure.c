#include "measure.h"

#include <math.h>
#include <stdlib.h>

bool samples_open(struct samples *samples, size_t calls)
{
    const size_t most = 1 << 17;
    *samples = (struct samples){.stride = 1, .least = INFINITY};
    samples->room = calls > 0 && calls < most ? calls : most;
    samples->seconds = malloc(samples->room * sizeof(*samples->seconds));
    return samples->seconds != NULL;
}

/* Keeps every other one, of an even number: so the next call is in their turn, too. */
static void thin_out(struct samples *samples)
{
    samples->kept /= 2;
    for (size_t i = 0; i < samples->kept; i++)
        samples->seconds[i] = samples->seconds[2 * i];
    samples->stride *= 2;
}

void samples_add(struct samples *samples, double seconds)
{
    if (samples->count % samples->stride == 0) {
        if (samples->kept == samples->room)
            thin_out(samples);
        samples->seconds[samples->kept++] = seconds;
    }
    samples->count++;
    samples->total += seconds;
    samples->least = fmin(samples->least, seconds);
    samples->most = fmax(samples->most, seconds);
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
    double *const seconds = samples->seconds;
    const size_t kept = samples->kept;
    double squares = 0;
    timing->mean = samples->total / (double)samples->count;
    for (size_t i = 0; i < kept; i++)
        squares += (seconds[i] - timing->mean) * (seconds[i] - timing->mean);
    timing->stdev = kept > 1 ? sqrt(squares / (double)(kept - 1)) : 0;
    qsort(seconds, kept, sizeof(*seconds), compare);
    timing->calls = samples->count;
    timing->min = samples->least;
    timing->p25 = quantile(seconds, kept, 0.25);
    timing->median = quantile(seconds, kept, 0.5);
    timing->p75 = quantile(seconds, kept, 0.75);
    timing->max = samples->most;
}
