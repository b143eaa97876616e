/*
 * Tridiagonal systems of an exchange between neighbours, such as diffusion implicit in time. The
 * functions take one row at a time: the caller chooses the order of loops and stores the reduced
 * rows, and many systems can advance together.
 *
 *     a x[k-1] + (excess - a - c) x[k] + c x[k+1] = d,     a, c <= 0 < excess     row k
 *
 * a is 0 in the first row, c in the last, above which any x will do. Upwards, `eliminate` brings
 * each row to x[k] + c' x[k+1] = d'; downwards, `substitute` solves it. Where the exchange is
 * strong, c' is close to -1, and the textbook's pivot b - a c' is a small difference of large
 * numbers: the solution then does not conserve the quantity. Here all terms of the pivot have one
 * sign. Rows need not be exchanged, because the matrix is diagonally dominant.
 */
#ifndef PHYSICS_TRIDIAGONAL_H
#define PHYSICS_TRIDIAGONAL_H

#include "directives.h"
#include "variant.h"

#include <stdbool.h>

struct tridiagonal_row {
    real a, excess, c, d;
};

/* `ratio` is 1 + c', which is positive, or else c'. Where nothing is lost in a row, the excess is
 * 1, and d' and -c' are shares of what there is, whose digits have to fit each other. Where much is
 * lost, x may grow upwards by orders of magnitude, so that all digits of c' count, unless it is
 * close to -1. */
struct reduced_row {
    real ratio, d;
};

/* The reduced row below the first one: it changes nothing there. */
#define NO_ROW ((struct reduced_row){0, 0})

INLINED real one_plus_c(real ratio)
{
    return ratio > 0 ? ratio : 1 + ratio;
}

INLINED real minus_c(real ratio)
{
    return ratio > 0 ? 1 - ratio : -ratio;
}

INLINED struct reduced_row eliminate(struct tridiagonal_row row, struct reduced_row below)
{
    const real rest = row.excess - row.a * one_plus_c(below.ratio);
    const real pivot = rest - row.c;
    const bool is_share = row.excess == 1 || rest < -row.c;
    return (struct reduced_row){(is_share ? rest : row.c) / pivot,
                                (row.d - row.a * below.d) / pivot};
}

INLINED real substitute(struct reduced_row row, real x_above)
{
    return row.d + minus_c(row.ratio) * x_above;
}

#endif
