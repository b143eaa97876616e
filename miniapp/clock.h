/* Seconds since some fixed moment; never goes back. */
#ifndef MINIAPP_CLOCK_H
#define MINIAPP_CLOCK_H

#include <time.h>

static inline double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
