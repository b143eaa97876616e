/* The vertical velocity by continuity; it is 0 below the lowest level. */
#ifndef CONTINUITY_H
#define CONTINUITY_H

#include "span.h"

#include <stdbool.h>

/* A row of a level: w from u, v and the w below. `is_lowest` and `in_ghosts` are literals. */
INLINED void level_upward(real *w, const real *u, const real *v, const uint8_t *mask,
                          real thickness, const real *dxt, const real *dyt, const real *cost,
                          const real *cosu, struct span part, count k, count y, count nx, count ny,
                          bool is_lowest, bool in_ghosts)
{
    const struct span inside = in_ghosts ? within(part, y > 0, 1, nx) : interior(part, y, nx, ny);
    const count south = y > 0, plane = ny * nx, row = k * plane + y * nx;
    const real cosine = cost[y], per_dy = 1 / (cosine * dyt[y]);
    const real north = cosu[y] * per_dy, from_south = cosu[y - south] * per_dy;
    zero_outside(w + row, part, inside);
    ALONG_X
    for (count x = inside.begin; x < inside.end; x++) {
        const count i = row + x;
        const real divergence =
            (u[i] - u[i - 1]) / (cosine * dxt[x]) + (north * v[i] - from_south * v[i - south * nx]);
        const real height = mask ? mask[i] * thickness : thickness;
        w[i] = (is_lowest ? 0 : w[i - plane]) - height * divergence;
    }
}

/* Computes w from u and v in the columns of a part of the rows [begin, end), whose levels are dz
 * high. A level adds nothing where its mask is 0; `mask` may be NULL. w is 0 in ghosts or, with
 * `in_ghosts`, in the first row and the first column, which lack a neighbour. */
INLINED void upward(real *w, const real *u, const real *v, const uint8_t *mask, const real *dz,
                    const real *dxt, const real *dyt, const real *cost, const real *cosu,
                    struct span part, count begin, count end, count nx, count ny, count nz,
                    bool in_ghosts)
{
    for (count y = begin; y < end; y++)
        level_upward(w, u, v, mask, dz[0], dxt, dyt, cost, cosu, part, 0, y, nx, ny, true,
                     in_ghosts);
    for (count k = 1; k < nz; k++)
        for (count y = begin; y < end; y++)
            level_upward(w, u, v, mask, dz[k], dxt, dyt, cost, cosu, part, k, y, nx, ny, false,
                         in_ghosts);
}

#endif
