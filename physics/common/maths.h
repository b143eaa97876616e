/*
 * Elementary functions of a real. Compilers turn these builtins into instructions on every target,
 * whereas the C library's functions would need a device library, and fmin and fmax take several
 * instructions.
 */
#ifndef PHYSICS_MATHS_H
#define PHYSICS_MATHS_H

#include "variant.h"

static inline real square_root(real x)
{
    return _Generic(x, double: __builtin_sqrt(x), float: __builtin_sqrtf((float)x));
}

static inline real magnitude(real x)
{
    return _Generic(x, double: __builtin_fabs(x), float: __builtin_fabsf((float)x));
}

/* The magnitude of x with the sign of y. */
static inline real with_sign(real x, real y)
{
    return _Generic(x,
        double: __builtin_copysign(x, y),
        float: __builtin_copysignf((float)x, (float)y));
}

static inline real smaller(real a, real b)
{
    return a < b ? a : b;
}

static inline real larger(real a, real b)
{
    return a > b ? a : b;
}

static inline real whole_power(real base, int exponent)
{
    real result = 1;
    for (int n = 0; n < exponent; n++)
        result *= base;
    return result;
}

#endif
