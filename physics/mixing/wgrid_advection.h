/*
 * Fluxes of an energy on the W grid: advection by superbee or upwind, and lateral diffusion. A W
 * cell reaches from one T point to the next; the one at the surface is half a cell. A face is open
 * if both its cells are water. Each cell owns the faces to its east, to its north and above it.
 *
 * A kernel's DERIVED names its `energy`, and how advection is limited: by superbee, if `share` is 1
 * and `dt_limited` is the time step, or not, if both are 0. It also defines
 *
 *     real lateral_diffusivity(const struct arguments *a, count i, count j)
 *
 * of the face between two cells, and diffused(a, i): the energy of a cell, or what else evens out.
 */
#ifndef WGRID_ADVECTION_H
#define WGRID_ADVECTION_H

#include "arguments.h"
#include "superbee.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The open faces at a cell, a bit each. Along x, y and z superbee reads three: the face before the
 * cell's own, its own, and the one after. EAST and NORTH are the cell's own faces for lateral
 * diffusion.
 */
enum {
    X_LINE = 0,
    Y_LINE = 3,
    Z_LINE = 6,
    BEFORE = 1,
    OWN = 2,
    AFTER = 4,
    EAST = 1 << 9,
    NORTH = 1 << 10,
    WATER = 1 << 11, /* the cell itself */
};

/* The value, or 0 where the bit is not set. */
INLINED real value_if(int32_t bit, real value)
{
    return bit ? value : 0;
}

/* A line of cells by their distances in memory from one of them: the cell before it and the two
 * after it. */
struct line {
    count low, high, high2;
};

#define LINE_IN_X ((struct line){1, 1, 2})

INLINED struct line line_in_y(count nx)
{
    return (struct line){nx, nx, 2 * nx};
}

/* The nearest level stands in for one that does not exist, so there is no flux. */
INLINED struct line line_in_z(const struct arguments *a, count k)
{
    const count plane = a->ny * a->nx;
    const count up = (k < a->nz - 1) * plane;
    return (struct line){(k > 0) * plane, up, up + (k < a->nz - 2) * plane};
}

INLINED int32_t open_line(const struct arguments *a, count i, struct line to)
{
    const uint8_t *const water = a->maskW;
    return (water[i - to.low] & water[i]) | (water[i] & water[i + to.high]) << 1 |
           (water[i + to.high] & water[i + to.high2]) << 2;
}

INLINED int32_t open_in_x(const struct arguments *a, count i)
{
    return open_line(a, i, LINE_IN_X) << X_LINE | a->maskU[i] * EAST;
}

INLINED int32_t open_in_y(const struct arguments *a, count i)
{
    return open_line(a, i, line_in_y(a->nx)) << Y_LINE | a->maskV[i] * NORTH;
}

INLINED int32_t open_in_z(const struct arguments *a, count k, count i)
{
    return open_line(a, i, line_in_z(a, k)) << Z_LINE | a->maskW[i] * WATER;
}

/* The advective flux through the face between cell i and the next one in a line. */
INLINED real flux_in_line(const struct arguments *a, count i, int32_t open, struct line to,
                          real vel, real dt_dx)
{
    const real here = a->energy[i], next = a->energy[i + to.high];
    const real rjm = value_if(open & BEFORE, here - a->energy[i - to.low]);
    const real rj = value_if(open & OWN, next - here);
    const real rjp = value_if(open & AFTER, a->energy[i + to.high2] - next);
    return adv_flux(vel, next + here, rjm, rj, rjp, dt_dx, a->share);
}

INLINED real lateral_diffusivity(const struct arguments *a, count i, count j);
INLINED real diffused(const struct arguments *a, count i);

/* The diffusive flux along a distance, against the gradient. */
INLINED real flux_by_diffusion(const struct arguments *a, count i, count next, real per_distance)
{
    return lateral_diffusivity(a, i, i + next) * per_distance *
           (diffused(a, i) - diffused(a, i + next));
}

/* The fluxes through a lateral face by advection and by diffusion. */
struct lateral_flux {
    real adv, diff;
};

INLINED struct lateral_flux eastern_face(const struct arguments *a, count i, int32_t open,
                                         real per_dx, real per_dxu)
{
    return (struct lateral_flux){
        flux_in_line(a, i, open >> X_LINE, LINE_IN_X, a->u[i], a->dt_limited * per_dx),
        value_if(open & EAST, flux_by_diffusion(a, i, 1, per_dxu))};
}

/* Factors that the northern faces of a row share. */
struct north {
    real velfac, per_dy, per_dyu;
};

INLINED struct north north_at(const struct arguments *a, count y)
{
    return (struct north){a->cosu[y], 1 / (a->cost[y] * a->dyt[y]), a->cosu[y] / a->dyu[y]};
}

INLINED struct lateral_flux northern_face(const struct arguments *a, struct north n, count i,
                                          int32_t open)
{
    return (struct lateral_flux){flux_in_line(a, i, open >> Y_LINE, line_in_y(a->nx),
                                              n.velfac * a->v[i], a->dt_limited * n.per_dy),
                                 value_if(open & NORTH, flux_by_diffusion(a, i, a->nx, n.per_dyu))};
}

/* The line of cells and the Courant factor that the upper faces of a level share. */
struct above {
    struct line line;
    real dt_dz;
};

INLINED struct above above_at(const struct arguments *a, count k)
{
    return (struct above){line_in_z(a, k), a->dt_limited / a->dzw[k]};
}

INLINED real upper_face(const struct arguments *a, struct above up, count i, int32_t open)
{
    return flux_in_line(a, i, open >> Z_LINE, up.line, a->w[i], up.dt_dz);
}

#endif
