#ifndef MEASURE_H
#define MEASURE_H

#include <stdbool.h>
#include <stddef.h>

/* The times of the calls of a row. Where there is no room for all of them, every second one is
 * kept, then every fourth, and so on. */
struct samples {
    double *seconds;
    size_t kept, room, stride; /* of `seconds`: every stride-th call's */
    size_t count;              /* of all calls, and of all calls are: */
    double total, least, most;
};

struct timing {
    size_t calls;
    double first; /* the first call of all, with whatever is set up then */
    double mean, stdev, min, p25, median, p75, max;
};

/* Makes room for so many calls, 0 if that is not known, but for no more than 131,072; false if
 * memory is short. Free `seconds` at the end. */
bool samples_open(struct samples *samples, size_t calls);

void samples_add(struct samples *samples, double seconds);

/* Fills in all of `timing` but the first call. Sorts the samples; there must be at least one. */
void summarise(struct samples *samples, struct timing *timing);

#endif
