/*
 * Vertical mixing and dissipation of an energy on the W grid, implicit in time: a row of the
 * tridiagonal system of a column.
 */
#ifndef WGRID_MIXING_H
#define WGRID_MIXING_H

#include "tridiagonal.h"

#include <stdbool.h>
#include <stdint.h>

/* The height of a level's cells, and the factors by which a sum of two viscosities gives the
 * exchange with the level below and with the one above. */
struct w_exchange {
    real height, below, above;
};

INLINED struct w_exchange w_exchange_at(const real *dzt, const real *dzw, count k, count top,
                                        real dt_alpha)
{
    const real height = k < top ? dzw[k] : dzw[k] / 2;
    const real mixing = dt_alpha / (2 * height);
    return (struct w_exchange){height, k > 0 ? mixing / dzt[k] : 0,
                               k < top ? mixing / dzt[k + 1] : 0};
}

/* A row of the system. delta is the exchange between two levels, which is 0 through the bottom and
 * the surface; the excess of the diagonal is 1 plus the decay by dissipation. On land and below the
 * lowest water, where `wet` is false, the row is x = `kept`. */
INLINED struct tridiagonal_row w_mixing_row(struct w_exchange m, const real *kappaM, count i,
                                            count below, count above, bool wet, bool is_lowest,
                                            real decay, real right, real kept)
{
    const real delta_below = m.below * (kappaM[i - below] + kappaM[i]);
    const real delta_above = m.above * (kappaM[i] + kappaM[i + above]);
    const real a = is_lowest ? 0 : -delta_below;
    const real c = -delta_above;
    return (struct tridiagonal_row){wet ? a : 0, wet ? 1 + decay : 1, wet ? c : 0,
                                    wet ? right : kept};
}

#endif
