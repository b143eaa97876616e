/*
 * Sums whose bits do not depend on the order of the terms: any number of threads, any device and
 * any number of blocks of an ocean give the same.
 *
 * Each number is cut into parts, each a multiple of some unit and small enough that 2^31 of them
 * add up without rounding (Rump, Ogita and Oishi, 2008, SIAM J. Sci. Comput. 31, 189-224,
 * ExtractVector; Demmel and Nguyen, 2015, IEEE Trans. Comput. 64, 2060-2070). The remainder after
 * the last part is at most 2^-65 of the largest number. The sum is NaN if any number is not finite,
 * or is 2^992 or larger.
 */
#ifndef PHYSICS_EXACT_SUM_H
#define PHYSICS_EXACT_SUM_H

#include "directives.h"
#include "variant.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

enum { SUM_PARTS = 3 };

/* The cutter that splits off the first part of each number, if the largest number is `most`. All
 * terms of a sum need the same one. */
static inline double first_cutter(double most)
{
    int exponent;
    frexp(most, &exponent);
    return isfinite(most) ? ldexp(1, exponent + 31) : NAN;
}

/* Adds to a sum the part of a number that the cutter splits off; returns the rest. */
INLINED double add_part(double *sum, double number, double cutter)
{
    const double part = (number + cutter) - cutter;
    *sum += part;
    return number - part;
}

/* Adds a number's parts to those of a sum. */
INLINED void add_exactly(double *coarse, double *middle, double *fine, double number, double cutter)
{
    const double next = 0x1p31 * (DBL_EPSILON / 2);
    number = add_part(coarse, number, cutter);
    number = add_part(middle, number, next * cutter);
    add_part(fine, number, next * next * cutter);
}

static inline double sum_of_parts(const double sums[SUM_PARTS])
{
    return sums[2] + sums[1] + sums[0];
}

/* Reduces `number` rows, which hold a value for each meridian, to totals over the whole ocean:
 * sums, which have to be exact, or the largest values. `total` has room for one more. */
static inline void total_of_rows(const struct kernel_call *call, const double *rows, bool is_sum,
                                 double *total, size_t number)
{
    const struct totals *const totals = call->totals;
    const size_t nx = call->grid.nx;
    const double *const host = totals->on_host(totals->context, rows, number * nx);
    for (size_t row = 0; row < number; row++) {
        total[row] = 0;
        for (size_t x = MINIAPP_HALO; host && x < nx - MINIAPP_HALO; x++) {
            const double here = host[row * nx + x];
            if (is_sum)
                total[row] += here;
            else if (total[row] < here)
                total[row] = here;
        }
    }
    totals->reduce(totals->context, is_sum, total, number);
}

#endif
