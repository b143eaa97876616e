/*
 * The logarithm to base 2 of a normal number above 0, without a branch, a table or a call, so that
 * every compiler can vectorise it. Its error is at most 1.5 units in the last place of the larger
 * of the result and 1/2.
 */
#ifndef LOGARITHM_H
#define LOGARITHM_H

#include "power.h"

/* x = 2^n m, with m between the roots of 1/2 and 2, and log m = 2 atanh((m - 1) / (m + 1)). */
INLINED real log_2(real x)
{
    const int is_double = sizeof(real) == sizeof(double);
    const int fraction = (is_double ? DBL_MANT_DIG : FLT_MANT_DIG) - 1;
    const int bias = is_double ? DBL_MAX_EXP : FLT_MAX_EXP;
    const real least = (real)0.70710678118654752440;
    /* The lowest bits of this number count in ones. */
    const real counter = (real)(is_double ? 0x1p52 : 0x1p23);

    real_bits bits, bits_of_least, bits_of_counter;
    __builtin_memcpy(&bits, &x, sizeof bits);
    __builtin_memcpy(&bits_of_least, &least, sizeof bits_of_least);
    __builtin_memcpy(&bits_of_counter, &counter, sizeof bits_of_counter);
    const real_bits above_least = bits - bits_of_least;
    const real_bits bits_of_m = (above_least & (((real_bits)1 << fraction) - 1)) + bits_of_least;
    const real_bits bits_of_n =
        (above_least + ((real_bits)bias << fraction)) >> fraction | bits_of_counter;
    real m, n;
    __builtin_memcpy(&m, &bits_of_m, sizeof m);
    __builtin_memcpy(&n, &bits_of_n, sizeof n);

    const real t = (m - 1) / (m + 1), square = t * t;
    real series = 0;
    UNROLL
    for (int k = is_double ? 21 : 9; k > 0; k -= 2)
        series = 1 / (real)k + square * series;
    return n - (counter + bias) + (real)(2 / 0.69314718055994530942) * t * series;
}

#endif
