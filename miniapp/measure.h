/* Timing a kernel. */
#ifndef MINIAPP_MEASURE_H
#define MINIAPP_MEASURE_H

#include "device.h"

struct timing {
    size_t calls;
    double first; /* the first call of all, with whatever is set up then */
    double mean, stdev, min, p25, median, p75, max;
};

/* Makes a first call and `burnin` more, then `repetitions` timed ones; 0 repetitions: as many as
 * take about a second. */
enum physics_status measure(const struct arrays *arrays, size_t burnin, size_t repetitions,
                            struct timing *timing);

#endif
