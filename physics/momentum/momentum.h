/*
 * The formulas of momentum at a point, for one driver that goes along rows and one whose threads
 * have columns. `face` is a point of u, on the eastern side of a T cell, or of v, on the northern.
 */
#ifndef MOMENTUM_H
#define MOMENTUM_H

#include "arguments.h"
#include "faces.h"
#include "maths.h"
#include "span.h"
#include "terms.h"
#include "tridiagonal.h"

#include <stdbool.h>

/* ---- what a row shares ---- */

struct momentum_row {
    struct flow_row flow;
    real share_v, share_v_south; /* of a T cell's area that half of a v cell has */
    struct spreading u, v;
};

/* Row y, of which rows y - 1 and y + 1 exist. */
INLINED struct momentum_row row_at(const struct arguments *a, count y)
{
    const real cost = a->cost[y], cost_north = a->cost[y + 1];
    const real cosu = a->cosu[y], cosu_south = a->cosu[y - 1];
    const int power = a->enable_hor_friction_cos_scaling ? a->hor_friction_cosPower : 0;
    const real A_h = a->enable_hor_friction ? a->A_h : 0;
    const real at_t = A_h * whole_power(cost, power), at_u = A_h * whole_power(cosu, power);
    const real at_south = A_h * whole_power(cosu_south, power);
    const real at_north = A_h * whole_power(cost_north, power);
    const real at_walls = a->enable_noslip_lateral ? 2 : 0;
    return (struct momentum_row){
        .flow = flow_row_at(a, y),
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

/* The tendency of u by all but friction. */
INLINED real tendency_of_u(const struct arguments *a, const struct flow_row *r, struct where at,
                           level lowest, real *flux)
{
    const real turned = turned_into_u(a, r, at), out = out_of_u(a, r, at, flux);
    const real wind = r->per_mass * a->surface_taux[at.column];
    const real forced = (turned - r->per_dy_u * out) / 4 - (at.p_beside - at.p) * r->per_cosine;
    return lowest <= (level)at.k ? forced * at.per_dxu + wind : 0;
}

/* That of v. */
INLINED real tendency_of_v(const struct arguments *a, const struct flow_row *r, struct where at,
                           level lowest, real *flux)
{
    const real turned = turned_into_v(a, r, at), out = out_of_v(a, r, at, flux);
    const real wind = r->per_mass * a->surface_tauy[at.column];
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
    const real by_all = a->dt_mom * (mix + forced);
    const bool is_wet = lowest <= (level)k;
    const real change = is_wet ? by_all : 0;
    const double height = is_wet ? (double)dz : 0;
    now[i] = tendency;
    const real stepped = flow[i] + change;
    after[i] = stepped;
    sums->height += height;
    sums->tendency += height * (double)(tendency + mix);
    sums->flow += height * (double)stepped;
}

#endif
