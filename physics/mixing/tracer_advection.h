/*
 * Advection of a field on T points by the velocities on the faces of T cells. The flux through a
 * face is its velocity times the mean of the two cells, as in Veros's second-order scheme, or is
 * limited by superbee. Nothing goes through the surface or the bottom.
 */
#ifndef TRACER_ADVECTION_H
#define TRACER_ADVECTION_H

#include "arguments.h"
#include "cell.h"
#include "superbee.h"

#include <stdbool.h>

/* Values that the cells of a row share; the first row has none, since it lacks a southern face.
 * They are read before the loop over x, which stores: it would have to read them again for each
 * cell. */
struct advection_row {
    real per_cosine, per_dy, per_dz;
    real south, north; /* the lengths of the faces */
};

INLINED struct advection_row advection_row(const struct arguments *a, count z, count y)
{
    return (struct advection_row){1 / a->cost[y], 1 / (a->cost[y] * a->dyt[y]), 1 / a->dzt[z],
                                  a->cosu[y - 1], a->cosu[y]};
}

/* A face between two cells: the velocity through it; the distances in memory from the first cell
 * back to the one before it, on to the second, and from the second to the one after it; and the
 * masks of the faces between these four cells, which are 0 where a face is closed.
 */
struct advected_face {
    real vel, dt_dx;
    count before, next, after;
    real open_before, open, open_after;
};

/* As in Veros, superbee does not mask the velocity, which is 0 on closed faces. */
INLINED real advective_flux(const real *tracer, struct advected_face f, bool is_limited)
{
    const real here = tracer[0], next = tracer[f.next];
    if (!is_limited)
        return f.open * f.vel * (here + next) / 2;
    return adv_flux(f.vel, here + next, f.open_before * (here - tracer[-f.before]),
                    f.open * (next - here), f.open_after * (tracer[f.next + f.after] - next),
                    f.dt_dx, 1);
}

/* Through the eastern face of the cell, or of its western neighbour (`west` is 1). */
INLINED real advection_east(const struct arguments *a, const real *tracer, struct cell c, int west,
                            bool is_limited)
{
    const count i = c.i - west;
    const struct advected_face face = {.vel = a->u[i],
                                       .dt_dx = a->dt_tracer / (a->cost[c.y] * a->dxt[c.x - west]),
                                       .before = 1,
                                       .next = 1,
                                       .after = 1,
                                       .open_before = a->maskU[i - 1],
                                       .open = a->maskU[i],
                                       .open_after = a->maskU[i + 1]};
    return advective_flux(tracer + i, face, is_limited);
}

/* Through the northern face of the cell, or of its southern neighbour. */
INLINED real advection_north(const struct arguments *a, const struct advection_row *r,
                             const real *tracer, struct cell c, int south, bool is_limited)
{
    const count i = c.i - south * a->nx, y = c.y - south;
    const struct advected_face face = {.vel = (south ? r->south : r->north) * a->v[i],
                                       .dt_dx = a->dt_tracer / (a->cost[y] * a->dyt[y]),
                                       .before = a->nx,
                                       .next = a->nx,
                                       .after = a->nx,
                                       .open_before = a->maskV[i - a->nx],
                                       .open = a->maskV[i],
                                       .open_after = a->maskV[i + a->nx]};
    return advective_flux(tracer + i, face, is_limited);
}

/* Through the upper face of the cell, or of the one below it. */
INLINED real advection_top(const struct arguments *a, const real *tracer, struct cell c, int lower,
                           bool is_limited)
{
    const count below = lower * c.below;
    const count i = c.i - below, z = c.z - (below > 0);
    const count next = lower ? c.below : c.above;
    const count before = z > 0 ? c.below : 0;
    const count after = z < a->nz - 2 ? c.above : 0;
    const real is_inside = next > 0;
    const struct advected_face face = {.vel = is_inside * a->w[i],
                                       .dt_dx = a->dt_tracer / a->dzt[z],
                                       .before = before,
                                       .next = next,
                                       .after = after,
                                       .open_before = a->maskW[i - before],
                                       .open = a->maskW[i],
                                       .open_after = a->maskW[i + next]};
    return advective_flux(tracer + i, face, is_limited);
}

/* The tendency of the tracer in a cell: 0 on land. `is_limited` is a literal. */
INLINED real advective_tendency(const struct arguments *a, const struct advection_row *r,
                                const real *tracer, struct cell c, bool is_limited)
{
    const real per_dx = r->per_cosine / a->dxt[c.x];
    const real along_x =
        advection_east(a, tracer, c, 1, is_limited) - advection_east(a, tracer, c, 0, is_limited);
    const real along_y = advection_north(a, r, tracer, c, 1, is_limited) -
                         advection_north(a, r, tracer, c, 0, is_limited);
    const real along_z =
        advection_top(a, tracer, c, 1, is_limited) - advection_top(a, tracer, c, 0, is_limited);
    return a->maskT[c.i] * (along_x * per_dx + along_y * r->per_dy + along_z * r->per_dz);
}

#endif
