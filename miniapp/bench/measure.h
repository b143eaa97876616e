/* Times of calls. */
#ifndef MEASURE_H
#define MEASURE_H

#include <stddef.h>

struct samples {
    double *seconds;
    size_t count, wanted;
};

struct timing {
    size_t calls;
    double first; /* the first call of all, with whatever is set up then */
    double mean, stdev, min, p25, median, p75, max;
};

/* How many calls take about so many seconds if one takes `call`; between 5 and 10000. */
size_t calls_within(double seconds, double call);

/* Fills in all of `timing` but the first call. Sorts the samples; there must be at least one. */
void summarise(struct samples *samples, struct timing *timing);

#endif
