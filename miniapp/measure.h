/* Timing calls of a kernel. */
#ifndef MINIAPP_MEASURE_H
#define MINIAPP_MEASURE_H

#include "device.h"

/* The times of calls. */
struct samples {
    double *seconds;
    size_t count, wanted;
};

struct timing {
    size_t calls;
    double first; /* the first call of all, with whatever is set up then */
    double mean, stdev, min, p25, median, p75, max;
};

/* One call. The transfers of its data count where arrays->each_call says so. */
enum physics_status time_call(struct arrays *arrays, double *seconds);

/* As many calls as take about so many seconds, between 5 and 10000, when one takes `call`. */
size_t calls_within(double seconds, double call);

/* All of `timing` but the first call. Sorts the samples, of which there has to be one. */
void summarise(struct samples *samples, struct timing *timing);

#endif
