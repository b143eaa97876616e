#include "clock.h"

#include <math.h>

struct clock_quality clock_measure(void)
{
    enum { READINGS = 10000 };
    struct clock_quality quality = {0, INFINITY};
    const double start = seconds_now();
    double before = start;
    for (int i = 0; i < READINGS; i++) {
        const double now = seconds_now();
        if (now > before)
            quality.resolution = fmin(quality.resolution, now - before);
        before = now;
    }
    quality.cost = (before - start) / READINGS;
    return quality;
}
