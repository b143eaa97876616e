/*
 * Advection of an energy on the W grid, by superbee or upwind. A W cell reaches from one T point to
 * the next; the one at the surface is half a cell. A face is open if both its cells are water.
 *
 * The cells on both sides of a face each compute its flux: no array stores it.
 */
#ifndef WGRID_ADVECTION_H
#define WGRID_ADVECTION_H

#include "superbee.h"

#include <stdint.h>

/*
 * Which faces around a cell are open, one bit each: along x, y and z the four that superbee reads,
 * and the four of lateral diffusion. A part's bits are made in a loop of their own, so that the
 * loop over its points reads no bytes: otherwise GCC would unroll that loop to 64 points, as many
 * as there are bytes in a vector.
 */
enum {
    X_LINE = 0,
    Y_LINE = 4,
    Z_LINE = 8,
    EAST = 1 << 12,
    WEST = 1 << 13,
    NORTH = 1 << 14,
    SOUTH = 1 << 15,
    WATER = 1 << 16, /* the cell itself */
};

/* The open faces of a line, whose cells lie at these distances in memory. */
INLINED int32_t open_line(const uint8_t *water, count low2, count low, count high, count high2)
{
    return (water[-low2] & water[-low]) | (water[-low] & water[0]) << 1 |
           (water[0] & water[high]) << 2 | (water[high] & water[high2]) << 3;
}

/* The value, or 0 where the bit is not set. */
INLINED real value_if(int32_t bit, real value)
{
    return bit ? value : 0;
}

/* What a row of cells shares. */
struct w_row {
    count nx, down, down2, up, up2; /* distances to neighbours */
    const real *u, *v, *w, *dxt;
    real per_height_below, per_height_above, dt_dz_below, dt_dz_above;
    real cosine, velfac, velfac_south, per_dy, per_dy_south;
    real share, dt_limited; /* superbee: 1 and the time step; upwind scheme: both 0 */
};

/* A level that does not exist is taken to be the nearest one, so there is no flux. */
INLINED struct w_row w_row_at(count nx, count plane, count k, count top, count y, const real *u,
                              const real *v, const real *w, const real *dxt, const real *dyt,
                              const real *dzw, const real *cost, const real *cosu, real dt,
                              bool is_limited)
{
    const count down = (k > 0) * plane;
    const count up = (k < top) * plane;
    const real height = k < top ? dzw[k] : dzw[k] / 2;
    const real share = is_limited;
    const real dt_limited = share * dt;
    const real cosine = cost[y];
    return (struct w_row){
        .nx = nx,
        .down = down,
        .down2 = down + (k > 1) * plane,
        .up = up,
        .up2 = up + (k < top - 1) * plane,
        .u = u,
        .v = v,
        .w = w,
        .dxt = dxt,
        .per_height_below = k > 0 ? 1 / height : 0,
        .per_height_above = k < top ? 1 / height : 0,
        .dt_dz_below = dt_limited / dzw[k - (k > 0)],
        .dt_dz_above = dt_limited / dzw[k],
        .cosine = cosine,
        .velfac = cosu[y],
        .velfac_south = cosu[y - 1],
        .per_dy = 1 / (cosine * dyt[y]),
        .per_dy_south = 1 / (cost[y - 1] * dyt[y - 1]),
        .share = share,
        .dt_limited = dt_limited,
    };
}

INLINED int32_t open_faces(const struct w_row *r, count i, const uint8_t *maskU,
                           const uint8_t *maskV, const uint8_t *maskW)
{
    const uint8_t *const water = maskW + i;
    const count nx = r->nx;
    return open_line(water, 2, 1, 1, 2) << X_LINE |
           open_line(water, 2 * nx, nx, nx, 2 * nx) << Y_LINE |
           open_line(water, r->down2, r->down, r->up, r->up2) << Z_LINE | maskU[i] * EAST |
           maskU[i - 1] * WEST | maskV[i] * NORTH | maskV[i - nx] * SOUTH | water[0] * WATER;
}

/* The differences of an energy across the faces of a line; j is the face between the cell and the
 * next one. */
struct differences {
    real jm2, jm1, j, jp1;
};

INLINED struct differences differences(const real *energy, int32_t open, count low2, count low,
                                       count high, count high2)
{
    return (struct differences){
        .jm2 = value_if(open & 1, energy[-low] - energy[-low2]),
        .jm1 = value_if(open & 2, energy[0] - energy[-low]),
        .j = value_if(open & 4, energy[high] - energy[0]),
        .jp1 = value_if(open & 8, energy[high2] - energy[high]),
    };
}

/* The advective tendency of an energy in cell i, whose place in the row is x. As in Veros, only the
 * lateral part is masked. */
INLINED real w_tendency(const struct w_row *r, const real *energy, count x, count i, int32_t faces)
{
    const count nx = r->nx;
    const real here = energy[i];
    const real east = energy[i + 1], west = energy[i - 1];
    const real north = energy[i + nx], south = energy[i - nx];
    const real above = energy[i + r->up], below = energy[i - r->down];
    const real per_dx = 1 / (r->cosine * r->dxt[x]);
    const real per_dx_west = 1 / (r->cosine * r->dxt[x - 1]);

    const struct differences rx = differences(energy + i, faces >> X_LINE, 2, 1, 1, 2);
    const struct differences ry = differences(energy + i, faces >> Y_LINE, 2 * nx, nx, nx, 2 * nx);
    const struct differences rz =
        differences(energy + i, faces >> Z_LINE, r->down2, r->down, r->up, r->up2);
    const real adv_fe =
        adv_flux(r->u[i], east + here, rx.jm1, rx.j, rx.jp1, r->dt_limited * per_dx, r->share);
    const real adv_fw = adv_flux(r->u[i - 1], here + west, rx.jm2, rx.jm1, rx.j,
                                 r->dt_limited * per_dx_west, r->share);
    const real adv_fn = adv_flux(r->velfac * r->v[i], north + here, ry.jm1, ry.j, ry.jp1,
                                 r->dt_limited * r->per_dy, r->share);
    const real adv_fs = adv_flux(r->velfac_south * r->v[i - nx], here + south, ry.jm2, ry.jm1, ry.j,
                                 r->dt_limited * r->per_dy_south, r->share);
    const real adv_ft =
        adv_flux(r->w[i], above + here, rz.jm1, rz.j, rz.jp1, r->dt_dz_above, r->share);
    const real adv_fb =
        adv_flux(r->w[i - r->down], here + below, rz.jm2, rz.jm1, rz.j, r->dt_dz_below, r->share);

    const real lateral =
        value_if(faces & WATER, (adv_fw - adv_fe) * per_dx + (adv_fs - adv_fn) * r->per_dy);
    return lateral + adv_fb * r->per_height_below - adv_ft * r->per_height_above;
}

#endif
