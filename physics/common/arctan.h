/* The arc tangent without a library, for values that are computed once a level. */
#ifndef ARCTAN_H
#define ARCTAN_H

#include "maths.h"

#define PI 3.14159265358979323846

/* Halves the angle: atan x = 2 atan(x / (1 + sqrt(1 + x^2))). */
static inline real half_tangent(real x)
{
    return x / (1 + square_root(1 + x * x));
}

/* Three halvings leave |x| below 0.2, where the series needs eleven terms in double. */
static inline real arctan(real x)
{
    const real eighth = half_tangent(half_tangent(half_tangent(x)));
    const real square = eighth * eighth;
    real sum = 0;
    for (int n = 21; n > 0; n -= 2)
        sum = 1 / (real)n - square * sum;
    return 8 * eighth * sum;
}

#endif
