/*
 * Tridiagonal systems, one row at a time, so that the caller chooses the order of loops and
 * where the reduced rows live: many systems can advance together, row by row.
 *
 *     a x[k-1] + b x[k] + c x[k+1] = d     row k; a is not used in the first, c in the last
 *
 * Upwards, `eliminate` brings each row to x[k] + c' x[k+1] = d'; downwards, `substitute` solves
 * it. There is no pivoting, so the matrix must be diagonally dominant.
 */
#ifndef PHYSICS_TRIDIAGONAL_H
#define PHYSICS_TRIDIAGONAL_H

#include "directives.h"
#include "variant.h"

struct tridiagonal_row {
    real a, b, c, d;
};

struct reduced_row {
    real c, d;
};

/* What stands in for the row below the first one, which it does not change. */
#define NO_ROW ((struct reduced_row){0, 0})

INLINED struct reduced_row eliminate(struct tridiagonal_row row, struct reduced_row below)
{
    const real pivot = row.b - row.a * below.c;
    return (struct reduced_row){row.c / pivot, (row.d - row.a * below.d) / pivot};
}

INLINED real substitute(struct reduced_row row, real x_above)
{
    return row.d - row.c * x_above;
}

#endif
