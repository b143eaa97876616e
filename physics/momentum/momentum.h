/*
 * The formulas of momentum at a point, for one driver that goes along rows and one whose threads
 * have columns. `face` is a point of u, on the eastern side of a T cell, or of v, on the northern.
 * u and v are 0 on land, so that transports need no mask.
 */
#ifndef MOMENTUM_H
#define MOMENTUM_H

#include "arguments.h"
#include "constants.h"
#include "faces.h"
#include "maths.h"
#include "span.h"
#include "tridiagonal.h"

#include <stdbool.h>

/* ---- what a row shares ---- */

struct flow_row {
    real cost, cost_north, cosu, cosu_south, cosu_north;
    real dyt, dyt_north, per_dyu;
    real curve, curve_north;     /* of the metric terms */
    real per_dy_u, per_dy_v;     /* 1 / (cost dyt), 1 / (cosu dyu) */
    real share_v, share_v_south; /* of a T cell's area that half of a v cell has */
    struct spreading u, v;
};

/* Row y, of which rows y - 1 and y + 1 exist. */
INLINED struct flow_row row_at(const struct arguments *a, count y)
{
    const real cost = a->cost[y], cost_north = a->cost[y + 1];
    const real cosu = a->cosu[y], cosu_south = a->cosu[y - 1];
    const int power = a->enable_hor_friction_cos_scaling ? a->hor_friction_cosPower : 0;
    const real A_h = a->enable_hor_friction ? a->A_h : 0;
    const real at_t = A_h * whole_power(cost, power), at_u = A_h * whole_power(cosu, power);
    const real at_south = A_h * whole_power(cosu_south, power);
    const real at_north = A_h * whole_power(cost_north, power);
    const real at_walls = a->enable_noslip_lateral ? 2 : 0;
    return (struct flow_row){
        .cost = cost,
        .cost_north = cost_north,
        .cosu = cosu,
        .cosu_south = cosu_south,
        .cosu_north = a->cosu[y + 1],
        .dyt = a->dyt[y],
        .dyt_north = a->dyt[y + 1],
        .per_dyu = 1 / a->dyu[y],
        .curve = a->tantr[y] / 2,
        .curve_north = a->tantr[y + 1] / 2,
        .per_dy_u = 1 / (cost * a->dyt[y]),
        .per_dy_v = 1 / (cosu * a->dyu[y]),
        .share_v = cosu * a->dyu[y] / (2 * cost * a->dyt[y]),
        .share_v_south = cosu_south * a->dyu[y - 1] / (2 * cost * a->dyt[y]),
        .u = {.east = at_t / cost,
              .north = at_u * cosu / a->dyu[y],
              .south = at_south * cosu_south / a->dyu[y - 1],
              .per_cosine = 1 / cost,
              .per_dy = 1 / (cost * a->dyt[y]),
              .at_walls_y = at_walls},
        .v = {.east = at_u / cosu,
              .north = at_north * cost_north / a->dyt[y + 1],
              .south = at_t * cost / a->dyt[y],
              .per_cosine = 1 / cosu,
              .per_dy = 1 / (cosu * a->dyu[y]),
              .at_walls_x = at_walls},
    };
}

/* ---- vertical friction ---- */

/* Quotients of a level's heights in its friction. A row computes them once: compilers would divide
 * anew in each point. The top has no level above it. */
struct heights {
    real per_dz, per_dzw; /* 1 over them, 0 for the top's dzw and without vertical friction */
    real back;            /* the share of a lowest level's loss that stays in it */
    real through_floor,
        through_top; /* of the flow, in a step, over the viscosities of both cells */
};

/* The height that a step of vertical friction exchanges, over the viscosities of both cells. */
INLINED real exchanging(const struct arguments *a, count k)
{
    const real dt = a->enable_implicit_vert_friction ? a->dt_mom : 0;
    return k >= 0 && k < a->nz - 1 ? dt / (2 * a->dzw[k]) : 0;
}

INLINED struct heights heights_at(const struct arguments *a, count k)
{
    const real per_dz = 1 / a->dzt[k], per_dzw = k < a->nz - 1 ? 1 / a->dzw[k] : 0;
    return (struct heights){.per_dz = per_dz,
                            .per_dzw = a->enable_implicit_vert_friction ? per_dzw : 0,
                            .back = a->dzw[k > 0 ? k - 1 : 0] * per_dzw / 2,
                            .through_floor = exchanging(a, k - 1) * per_dz,
                            .through_top = exchanging(a, k) * per_dz};
}

INLINED struct reduced_row eliminate_face(const struct arguments *a, const real *flow,
                                          struct heights h, count k, count i, count beside,
                                          level wet, struct reduced_row under)
{
    const count plane = a->ny * a->nx, below = k > 0 ? i - plane : i;
    const real through_floor = h.through_floor * (a->kappaM[below] + a->kappaM[below + beside]);
    const real through_top = h.through_top * (a->kappaM[i] + a->kappaM[i + beside]);
    const struct tridiagonal_row row = {
        .a = wet < (level)k ? -through_floor : 0,
        .excess = 1,
        .c = wet <= (level)k ? -through_top : 0,
        .d = flow[i],
    };
    return eliminate(row, under);
}

/* ---- all friction of a face ---- */

/* The losses of a face at a level, or their values on the W grid. */
struct losses {
    real vertical, lateral, drag;
};

/* The friction of a face of a level. */
struct friction {
    real mix;
    struct losses
        lost; /* the lateral one and that by drag where the flow is, the vertical one on W */
};

/* A face, whatever the level. */
struct of_face {
    const real *flow, *across, *source, *r_bot_var;
    count beside; /* from its cell to the other one */
    count aside;  /* from a cell to the one before it in the direction of `across` */
    bool has_all; /* a literal: drag in all its forms, or constant drag alone */
};

/* The tendency by drag and sources, and what they dissipate, in *lost. */
INLINED real drag_on_face(const struct arguments *a, const struct of_face *f, real per_dz, count k,
                          count i, count column, level lowest, real *lost)
{
    const real here = f->flow[i];
    const bool is_lowest = lowest == (level)k;
    const real drags = a->enable_bottom_friction, varies = a->enable_bottom_friction_var;
    real at_bottom = drags * a->r_bot, rate = a->enable_ray_friction ? a->r_ray : 0, source = 0;
    if (f->has_all) { /* by factors, since a load that depends on a switch keeps loops scalar */
        const real *const q = f->across + i;
        const count aside = f->aside, beside = f->beside;
        const real others = q[0] * q[0] + q[aside] * q[aside] + q[beside] * q[beside] +
                            q[beside + aside] * q[beside + aside];
        const real speed = square_root(here * here + others / 4);
        const real r_quad = a->enable_quadratic_bottom_friction ? a->r_quad_bot * per_dz : 0;
        at_bottom =
            drags * (varies * f->r_bot_var[column] + (1 - varies) * a->r_bot) + r_quad * speed;
        source = (real)a->enable_momentum_sources * f->source[i];
    }
    rate += is_lowest ? at_bottom : 0;
    const real force = lowest <= (level)k ? source - rate * here : 0;
    *lost = -here * force;
    return force;
}

/* The friction of a face, from its flow after vertical friction, here and above. */
INLINED struct friction friction_of(const struct arguments *a, const struct of_face *f,
                                    const struct spreading *s, struct heights h, count k, count i,
                                    count column, struct depths wet, real per_dx, real per_dx_east,
                                    real per_dx_west, real mixed, real mixed_above)
{
    const count up = k < a->nz - 1 ? a->ny * a->nx : 0;
    const real here = f->flow[i];
    const real viscosity = a->kappaM[i] + a->kappaM[i + f->beside];
    const real sheared =
        (h.per_dzw * (f->flow[i + up] - here)) * (h.per_dzw * (mixed_above - mixed));
    struct friction result = {0};
    result.lost.vertical = wet.here <= (level)k ? viscosity / 2 * sheared : 0;
    result.mix = (mixed - here) * a->per_dt + spread_face(s, f->flow, f->flow, i, a->nx, (level)k,
                                                          wet, per_dx, per_dx_east, per_dx_west,
                                                          &result.lost.lateral);
    result.mix += drag_on_face(a, f, h.per_dz, k, i, column, wet.here, &result.lost.drag);
    result.lost.lateral *= a->conserves;
    result.lost.drag *= a->conserves;
    return result;
}

/* ---- all else ---- */

/* The weight of half a W cell, as pressure. */
INLINED real half_weight(const struct arguments *a, count k)
{
    return (real)(GRAVITY / RHO_0) * a->dzw[k] / 2;
}

/* Hydrostatic pressure, downwards; on land it is 0. */
INLINED real pressure(const struct arguments *a, count k, count i, level lowest, real p_above)
{
    const real rho_above = k < a->nz - 1 ? a->rho[i + a->ny * a->nx] : 0;
    const real p = p_above + half_weight(a, k) * (a->rho[i] + rho_above);
    return lowest <= (level)k ? p : 0;
}

/* The place of a face, and the widths of cells and the pressure at T points beside it. */
struct where {
    count k, i, column;
    real per_dz, dx, dx_east, per_dxt, per_dxu;
    real p, p_beside;
};

/*
 * The tendency of u by all but friction. The flow is turned at T points by the Coriolis force and
 * the curvature of the sphere, from half the sums of the faces. *flux goes in through the top of
 * the cell and comes out through its floor.
 */
INLINED real tendency_of_u(const struct arguments *a, const struct flow_row *r, struct where at,
                           level lowest, real *flux)
{
    const count nx = a->nx, i = at.i, below = at.k > 0 ? a->ny * nx : 0;
    const real *const u = a->u + i, *const v = a->v + i, *const f = a->coriolis_t + at.column;
    const real here = u[0], west = u[-1] + here, east = here + u[1];
    const real north = at.dx * v[0], north_east = at.dx_east * v[1];
    const real south = at.dx * v[-nx], south_east = at.dx_east * v[1 - nx];
    const real turned = (north + south) * (f[0] + r->curve * west) +
                        (north_east + south_east) * (f[1] + r->curve * east);
    const real through_top = *flux;
    const real upward = at.dx * a->w[i - below] + at.dx_east * a->w[i + 1 - below];
    const real through_floor = below ? r->cost * r->dyt * (here + u[-below]) * upward : 0;
    *flux = through_floor;
    const real out = r->dyt * (east * east - west * west) +
                     r->cosu * (here + u[nx]) * (north + north_east) -
                     r->cosu_south * (u[-nx] + here) * (south + south_east) +
                     (through_top - through_floor) * at.per_dz;
    const real wind = at.k == a->nz - 1 ? at.per_dz / RHO_0 * a->surface_taux[at.column] : 0;
    const real forced = (turned - r->per_dy_u * out) / 4 - (at.p_beside - at.p) * r->u.per_cosine;
    return lowest <= (level)at.k ? forced * at.per_dxu + wind : 0;
}

/* That of v. */
INLINED real tendency_of_v(const struct arguments *a, const struct flow_row *r, struct where at,
                           level lowest, real *flux)
{
    const count nx = a->nx, i = at.i, below = at.k > 0 ? a->ny * nx : 0;
    const real *const u = a->u + i, *const v = a->v + i, *const f = a->coriolis_t + at.column;
    const real here = v[0], south_u = u[-1] + u[0], north_u = u[nx - 1] + u[nx];
    const real turned = r->dyt * r->cost * south_u * (f[0] + r->curve * south_u) +
                        r->dyt_north * r->cost_north * north_u * (f[nx] + r->curve_north * north_u);
    const real through_top = *flux;
    const real upward =
        r->cost * r->dyt * a->w[i - below] + r->cost_north * r->dyt_north * a->w[i + nx - below];
    const real through_floor = below ? (here + v[-below]) * upward : 0;
    *flux = through_floor;
    const real east = r->dyt_north * u[nx] + r->dyt * u[0];
    const real west = r->dyt_north * u[nx - 1] + r->dyt * u[-1];
    const real out = at.per_dxt * ((here + v[1]) * east - (v[-1] + here) * west) +
                     (here + v[nx]) * (r->cosu * here + r->cosu_north * v[nx]) -
                     (v[-nx] + here) * (r->cosu_south * v[-nx] + r->cosu * here) +
                     (through_top - through_floor) * at.per_dz;
    const real wind = at.k == a->nz - 1 ? at.per_dz / RHO_0 * a->surface_tauy[at.column] : 0;
    const real forced = -r->per_dy_v * (turned + out) / 4 - (at.p_beside - at.p) * r->per_dyu;
    return lowest <= (level)at.k ? forced + wind : 0;
}

/* The sums of a column over its height, of wet levels. */
struct depth_sums {
    double height, tendency, flow;
};

/* Steps a face, by Adams and Bashforth but for friction, and adds it to the sums of its column. */
INLINED void step_face(const struct arguments *a, const real *flow, const real *before, real *now,
                       real *after, count k, count i, real dz, level lowest, real tendency,
                       real mix, struct depth_sums *sums)
{
    const real forced = ((real)1.5 + a->AB_eps) * tendency - ((real)0.5 + a->AB_eps) * before[i];
    const bool is_wet = lowest <= (level)k;
    const real change = is_wet ? a->dt_mom * (mix + forced) : 0;
    const double height = is_wet ? (double)dz : 0;
    now[i] = tendency;
    const real stepped = flow[i] + change;
    after[i] = stepped;
    sums->height += height;
    sums->tendency += height * (double)(tendency + mix);
    sums->flow += height * (double)stepped;
}

#endif
