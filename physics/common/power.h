/*
 * 2^x and 1 / (1 + 2^x) without a branch, a table or a call, so that every compiler can vectorise
 * them. Their errors are at most 2 and 2.6 units in the last place.
 */
#ifndef POWER_H
#define POWER_H

#include "directives.h"
#include "maths.h"

#include <float.h>
#include <stdint.h>

/* The unsigned integer that overlays a real. */
typedef __typeof__(_Generic((real)0, double: (uint64_t)0, float: (uint32_t)0)) real_bits;

/* x = n + rest with a whole number n next to x, and 2^n, which is infinite past the largest number
 * and 0 past the smallest. NaN stays NaN. The rounding relies on the order of its sums:
 * CMakeLists.txt switches off the part of -ffast-math that would change it. */
struct split_exponent {
    real power_of_n, rest;
};

INLINED struct split_exponent split_exponent(real x)
{
    const int is_double = sizeof(real) == sizeof(double);
    const int digits = is_double ? DBL_MANT_DIG : FLT_MANT_DIG;
    const int bias = is_double ? DBL_MAX_EXP - 1 : FLT_MAX_EXP - 1;
    x = larger(-bias, smaller(bias + 1, x));

    /* Adding 1.5 2^(digits - 1) rounds x to a whole number, which then stands in the lowest bits.
     * With the bias added, these bits are the exponent of 2^n. In Clang's code for AMD GPUs memcpy
     * would be a call of a function that does not exist; the builtin becomes instructions. */
    const real rounder = (real)(is_double ? 0x1.8p52 : 0x1.8p23) + bias;
    const real rounded = x + rounder;
    real_bits bits;
    real power;
    __builtin_memcpy(&bits, &rounded, sizeof bits);
    bits <<= digits - 1;
    __builtin_memcpy(&power, &bits, sizeof power);
    return (struct split_exponent){power, x - (rounded - rounder)};
}

/* 2^x = 2^n 2^r, where 2^r is a minimax polynomial on [-1/2, 1/2]; float needs eight of its terms.
 */
INLINED real power_of_2(real x)
{
    const struct split_exponent s = split_exponent(x);
    const real r = s.rest;

    /* the even powers of r, then the odd ones */
#define C(c) ((real)(c))
#define IN_DOUBLE(terms) (sizeof(real) == sizeof(double) ? (terms) : 0)
    const real r2 = r * r;
    const real even =
        C(1) + r2 * (C(0.24022650695910156205) +
                     r2 * (C(0.0096181291075883350833) +
                           r2 * (C(0.00015403530462514613026) +
                                 IN_DOUBLE(r2 * (C(1.3215433089594629037e-6) +
                                                 r2 * C(7.0741056262456593708e-9))))));
    const real odd = C(0.69314718055994533046) +
                     r2 * (C(0.055504108664819921483) +
                           r2 * (C(0.0013333558146789950323) +
                                 r2 * (C(0.0000152527334899608046) +
                                       IN_DOUBLE(r2 * (C(1.0178198033328527662e-7) +
                                                       r2 * C(4.4352809446103361611e-10))))));
#undef IN_DOUBLE
#undef C
    return (even + r * odd) * s.power_of_n;
}

/*
 * 1 / (1 + 2^x). With tanh(r log(2) / 2) = b / a, 2^r is (a + b) / (a - b), so that the power and
 * the sum take a single division. Both a and b / r are minimax polynomials in r^2.
 */
INLINED real logistic_of_2(real x)
{
    const struct split_exponent s = split_exponent(x);
    const real r = s.rest, r2 = r * r;
#define BY_PRECISION(in_double, in_float)                                                          \
    (sizeof(real) == sizeof(double) ? (real)(in_double) : (real)(in_float))
    const real a = 1 + r2 * (BY_PRECISION(0.053382223241224439213, 0.048034978601607564808) +
                             r2 * BY_PRECISION(0.00022893365858581245625, 0));
    const real b = r * (BY_PRECISION(0.34657359027997265304, 0.34657359009556865275) +
                        r2 * (BY_PRECISION(0.0046248415996330919623, 0.0027716411701480570569) +
                              r2 * BY_PRECISION(5.2870874150301294626e-6, 0)));
#undef BY_PRECISION
    return (a - b) / ((a - b) + s.power_of_n * (a + b));
}

#endif
