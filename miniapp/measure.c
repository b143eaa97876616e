#include "measure.h"
#include "clock.h"
#include "status.h"

#include <math.h>
#include <stdlib.h>

enum { FEWEST_CALLS = 5, MOST_CALLS = 10000 };

static enum physics_status time_call(const struct arrays *arrays, double *seconds)
{
    const double start = seconds_now();
    const enum physics_status status = physics_run(arrays->kernel, &arrays->call);
    *seconds = seconds_now() - start;
    if (status)
        return fail(status, "kernel '%s' cannot run on %zu x %zu x %zu points",
                    arrays->kernel->name, arrays->call.grid.nx, arrays->call.grid.ny,
                    arrays->call.grid.nz);
    return PHYSICS_DONE;
}

static size_t calls_in_a_second(double call)
{
    if (call * MOST_CALLS <= 1)
        return MOST_CALLS;
    return call * FEWEST_CALLS >= 1 ? FEWEST_CALLS : (size_t)ceil(1 / call);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Linear between the sorted values, as NumPy's percentile is. */
static double quantile(const double *sorted, size_t count, double fraction)
{
    const double place = fraction * (double)(count - 1);
    const size_t lower = (size_t)place;
    const size_t upper = lower + 1 < count ? lower + 1 : lower;
    return sorted[lower] + (place - (double)lower) * (sorted[upper] - sorted[lower]);
}

static void summarise(double *seconds, size_t count, struct timing *timing)
{
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

/* Untimed calls; `last` becomes the time of the last one. */
static enum physics_status warm_up(const struct arrays *arrays, size_t calls, double *last)
{
    enum physics_status status = PHYSICS_DONE;
    for (size_t i = 0; i < calls && !status; i++)
        status = time_call(arrays, last);
    return status;
}

enum physics_status measure(const struct arrays *arrays, size_t burnin, size_t repetitions,
                            struct timing *timing)
{
    double last = 0;
    enum physics_status status = time_call(arrays, &timing->first);
    if (!status)
        status = warm_up(arrays, burnin, &last);
    /* the very first call says little about the next ones */
    if (!status && repetitions == 0 && burnin == 0)
        status = warm_up(arrays, 1, &last);
    if (status)
        return status;
    const size_t count = repetitions ? repetitions : calls_in_a_second(last);
    double *seconds = malloc(count * sizeof(*seconds));
    if (!seconds)
        return fail(PHYSICS_DEVICE, "out of memory for the times of %zu calls", count);
    for (size_t i = 0; i < count && !status; i++)
        status = time_call(arrays, &seconds[i]);
    if (!status)
        summarise(seconds, count, timing);
    free(seconds);
    return status;
}
