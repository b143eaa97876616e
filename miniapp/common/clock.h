/* The clock by which everything is timed. */
#ifndef CLOCK_H
#define CLOCK_H

#include <time.h>

/* Seconds since some fixed moment; never goes back. */
static inline double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The measured cost of a reading, and the smallest measured difference between two readings. */
struct clock_quality {
    double cost, resolution;
};

/* The least time that a call has to take, as a multiple of the clock's cost or resolution. */
enum { CLOCK_TICKS = 100 };

#endif
