/*
 * The terms of momentum but friction at a point, with which momentum and momentum_terms step it and
 * split it. A face's terms are so far without its widths, 1 / (4 dx) and those of flow_row.
 * u and v are 0 on land, so that transports need no mask.
 */
#ifndef TERMS_H
#define TERMS_H

#include "arguments.h"
#include "constants.h"
#include "faces.h"

/* All points of a row share these, those of a level the first ones. */
struct flow_row {
    count below;             /* to the level below; 0 in the lowest one, */
    real floor, floor_north; /* through which nothing goes, or else areas of T cells */
    real per_mass;           /* 1 / (dz rho_0) where there is wind, else 0 */
    real cosu, cosu_south, cosu_north, dyt, dyt_north, per_dyu, per_cosine;
    real area, area_north;   /* cost dyt, of T cells */
    real curve, curve_north; /* of the metric terms */
    real per_dy_u, per_dy_v; /* 1 / (cost dyt), 1 / (cosu dyu) */
};

/* Row y, of which rows y - 1 and y + 1 exist. */
INLINED struct flow_row flow_row_at(const struct arguments *a, count y)
{
    const real cost = a->cost[y], cosu = a->cosu[y], area = cost * a->dyt[y];
    return (struct flow_row){
        .cosu = cosu,
        .cosu_south = a->cosu[y - 1],
        .cosu_north = a->cosu[y + 1],
        .dyt = a->dyt[y],
        .dyt_north = a->dyt[y + 1],
        .per_dyu = 1 / a->dyu[y],
        .per_cosine = 1 / cost,
        .area = area,
        .area_north = a->cost[y + 1] * a->dyt[y + 1],
        .curve = a->tantr[y] / 2,
        .curve_north = a->tantr[y + 1] / 2,
        .per_dy_u = 1 / area,
        .per_dy_v = 1 / (cosu * a->dyu[y]),
    };
}

/* Takes the row to a level. */
INLINED void enter_level(const struct arguments *a, struct flow_row *r, count k)
{
    r->below = k > 0 ? a->ny * a->nx : 0;
    r->floor = k > 0 ? r->area : 0;
    r->floor_north = k > 0 ? r->area_north : 0;
    r->per_mass = k == a->nz - 1 ? 1 / (a->dzt[k] * RHO_0) : 0;
}

/* The weight of half a W cell, as pressure. */
INLINED real half_weight(const struct arguments *a, count k)
{
    return (real)(GRAVITY / RHO_0) * a->dzw[k] / 2;
}

/* Hydrostatic pressure, downwards; on land it is 0. */
INLINED real pressure(const struct arguments *a, count k, count i, level lowest, real p_above)
{
    const bool is_top = k == a->nz - 1;
    const real rho_above = a->rho[i + (is_top ? 0 : a->ny * a->nx)];
    const real p = p_above + half_weight(a, k) * (a->rho[i] + (is_top ? 0 : rho_above));
    return lowest <= (level)k ? p : 0;
}

/* The place of a face, and the widths of cells and the pressure at T points beside it. */
struct where {
    count k, i, column;
    real per_dz, dx, dx_east, per_dxt, per_dxu;
    real p, p_beside;
};

/* The flow that the Coriolis force and the curvature of the sphere turn into u: at T points, from
 * half the sums of the faces. */
INLINED real turned_into_u(const struct arguments *a, const struct flow_row *r, struct where at)
{
    const count nx = a->nx;
    const real *const u = a->u + at.i, *const v = a->v + at.i, *const f = a->coriolis_t + at.column;
    const real here = u[0], west = u[-1] + here, east = here + u[1];
    const real north = at.dx * v[0], north_east = at.dx_east * v[1];
    const real south = at.dx * v[-nx], south_east = at.dx_east * v[1 - nx];
    return (north + south) * (f[0] + r->curve * west) +
           (north_east + south_east) * (f[1] + r->curve * east);
}

/* The flow out of the cell of a u. *flux goes in through its top and comes out through its floor.
 */
INLINED real out_of_u(const struct arguments *a, const struct flow_row *r, struct where at,
                      real *flux)
{
    const count nx = a->nx, i = at.i, below = r->below;
    const real *const u = a->u + i, *const v = a->v + i;
    const real here = u[0], west = u[-1] + here, east = here + u[1];
    const real north = at.dx * v[0], north_east = at.dx_east * v[1];
    const real south = at.dx * v[-nx], south_east = at.dx_east * v[1 - nx];
    const real through_top = *flux;
    const real *const u_below = a->u - below, *const w_below = a->w - below;
    const real upward = at.dx * w_below[i] + at.dx_east * w_below[i + 1];
    const real through_floor = r->floor * (here + u_below[i]) * upward;
    *flux = through_floor;
    return r->dyt * (east * east - west * west) + r->cosu * (here + u[nx]) * (north + north_east) -
           r->cosu_south * (u[-nx] + here) * (south + south_east) +
           (through_top - through_floor) * at.per_dz;
}

/* As turned_into_u, for v. */
INLINED real turned_into_v(const struct arguments *a, const struct flow_row *r, struct where at)
{
    const count nx = a->nx;
    const real *const u = a->u + at.i, *const f = a->coriolis_t + at.column;
    const real south = u[-1] + u[0], north = u[nx - 1] + u[nx];
    return r->area * south * (f[0] + r->curve * south) +
           r->area_north * north * (f[nx] + r->curve_north * north);
}

INLINED real out_of_v(const struct arguments *a, const struct flow_row *r, struct where at,
                      real *flux)
{
    const count nx = a->nx, i = at.i, below = r->below;
    const real *const u = a->u + i, *const v = a->v + i;
    const real *const v_below = a->v - below, *const w_below = a->w - below;
    const real here = v[0];
    const real through_top = *flux;
    const real upward = r->floor * w_below[i] + r->floor_north * w_below[i + nx];
    const real through_floor = (here + v_below[i]) * upward;
    *flux = through_floor;
    const real east = r->dyt_north * u[nx] + r->dyt * u[0];
    const real west = r->dyt_north * u[nx - 1] + r->dyt * u[-1];
    return at.per_dxt * ((here + v[1]) * east - (v[-1] + here) * west) +
           (here + v[nx]) * (r->cosu * here + r->cosu_north * v[nx]) -
           (v[-nx] + here) * (r->cosu_south * v[-nx] + r->cosu * here) +
           (through_top - through_floor) * at.per_dz;
}

#endif
