/* The vertical velocity by continuity; it is 0 below the lowest level. */
#ifndef CONTINUITY_H
#define CONTINUITY_H

#include "span.h"

/* Computes w from u and v in the columns of a part of row y, whose levels are dz high. A level adds
 * nothing where its mask is 0; `mask` may be NULL. In the first row and the first column, which
 * lack a neighbour, w is 0. */
INLINED void upward(real *w, const real *u, const real *v, const uint8_t *mask, const real *dz,
                    const real *dxt, const real *dyt, const real *cost, const real *cosu,
                    struct span part, count y, count nx, count ny, count nz)
{
    const count plane = ny * nx;
    const struct span inside = within(part, y > 0, 1, nx);
    const count south = y > 0;
    const real per_dy = 1 / (cost[y] * dyt[y]);
    const real north = cosu[y] * per_dy, from_south = cosu[y - south] * per_dy;

    for (count k = 0; k < nz; k++) {
        const count row = k * plane + y * nx;
        const count below = k > 0 ? plane : 0;
        const real *const w_below = w - below, thickness = dz[k];
        zero_outside(w + row, part, inside);
        ALONG_X
        for (count x = inside.begin; x < inside.end; x++) {
            const count i = row + x;
            const real divergence = (u[i] - u[i - 1]) / (cost[y] * dxt[x]) +
                                    (north * v[i] - from_south * v[i - south * nx]);
            const real from_below = k > 0 ? w_below[i] : 0;
            const real height = mask ? mask[i] * thickness : thickness;
            w[i] = from_below - height * divergence;
        }
    }
}

#endif
