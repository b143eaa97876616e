/*
 * Advection of what lies on T points by the velocities on the faces of T cells. The flux through a
 * face is its velocity times the mean of the two cells, as in Veros's second order, or what
 * superbee makes of it. Nothing goes through the surface or the bottom.
 */
#ifndef TRACER_ADVECTION_H
#define TRACER_ADVECTION_H

#include "cell.h"
#include "superbee.h"

#include <stdbool.h>

/* The fields from which fluxes are computed. A nest gathers it from locals: a target region takes
 * pointers to device memory one by one. */
struct flow {
    count nx, nz;
    const real *u, *v, *w;
    const uint8_t *maskT, *maskU, *maskV, *maskW;
    const real *dxt, *dyt, *dzt, *cost, *cosu;
    real dt; /* for superbee's Courant numbers */
};

/* A face between two cells: the velocity through it; the distances in memory from the first cell
 * back to the one before it, on to the second, and from the second to the one after it; and the
 * masks of the faces between these four cells, which are 0 where a face is closed.
 */
struct face {
    real vel, dt_dx;
    count before, next, after;
    real open_before, open, open_after;
};

/* As in Veros, superbee does not mask the velocity, which is 0 on closed faces. */
INLINED real advective_flux(const real *tracer, struct face f, bool is_limited)
{
    const real here = tracer[0], next = tracer[f.next];
    if (!is_limited)
        return f.open * f.vel * (here + next) / 2;
    return adv_flux(f.vel, here + next, f.open_before * (here - tracer[-f.before]),
                    f.open * (next - here), f.open_after * (tracer[f.next + f.after] - next),
                    f.dt_dx, 1);
}

/* Through the eastern face of the cell, or of its western neighbour (`west` is 1). */
INLINED real advection_east(const struct flow *f, const real *tracer, struct cell c, int west,
                            bool is_limited)
{
    const count i = c.i - west;
    const struct face face = {.vel = f->u[i],
                              .dt_dx = f->dt / (f->cost[c.y] * f->dxt[c.x - west]),
                              .before = 1,
                              .next = 1,
                              .after = 1,
                              .open_before = f->maskU[i - 1],
                              .open = f->maskU[i],
                              .open_after = f->maskU[i + 1]};
    return advective_flux(tracer + i, face, is_limited);
}

/* Through the northern face of the cell, or of its southern neighbour; cosu is the length of the
 * face. */
INLINED real advection_north(const struct flow *f, const real *tracer, struct cell c, int south,
                             bool is_limited)
{
    const count i = c.i - south * f->nx, y = c.y - south;
    const struct face face = {.vel = f->cosu[y] * f->v[i],
                              .dt_dx = f->dt / (f->cost[y] * f->dyt[y]),
                              .before = f->nx,
                              .next = f->nx,
                              .after = f->nx,
                              .open_before = f->maskV[i - f->nx],
                              .open = f->maskV[i],
                              .open_after = f->maskV[i + f->nx]};
    return advective_flux(tracer + i, face, is_limited);
}

/* Through the upper face of the cell, or of the one below it. */
INLINED real advection_top(const struct flow *f, const real *tracer, struct cell c, int lower,
                           bool is_limited)
{
    const count below = lower * c.below;
    const count i = c.i - below, z = c.z - (below > 0);
    const count next = lower ? c.below : c.above;
    const count before = z > 0 ? c.below : 0;
    const count after = z < f->nz - 2 ? c.above : 0;
    const struct face face = {.vel = next > 0 ? f->w[i] : 0,
                              .dt_dx = f->dt / f->dzt[z],
                              .before = before,
                              .next = next,
                              .after = after,
                              .open_before = f->maskW[i - before],
                              .open = f->maskW[i],
                              .open_after = f->maskW[i + next]};
    return advective_flux(tracer + i, face, is_limited);
}

/* The tendency of the tracer in a cell: 0 on land. `is_limited` is a literal. */
INLINED real advective_tendency(const struct flow *f, const real *tracer, struct cell c,
                                bool is_limited)
{
    const real per_dx = 1 / (f->cost[c.y] * f->dxt[c.x]);
    const real per_dy = 1 / (f->cost[c.y] * f->dyt[c.y]);
    const real per_dz = 1 / f->dzt[c.z];
    const real along_x =
        advection_east(f, tracer, c, 1, is_limited) - advection_east(f, tracer, c, 0, is_limited);
    const real along_y =
        advection_north(f, tracer, c, 1, is_limited) - advection_north(f, tracer, c, 0, is_limited);
    const real along_z =
        advection_top(f, tracer, c, 1, is_limited) - advection_top(f, tracer, c, 0, is_limited);
    return f->maskT[c.i] * (along_x * per_dx + along_y * per_dy + along_z * per_dz);
}

#endif
