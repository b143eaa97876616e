/*
 * The formulas of isoneutral mixing in one pass, for both drivers of isoneutral_mixing.c: a lateral
 * face, the sums of a cell over its four faces, the face between two levels, and a level of the
 * column solve. Slopes of corners are never stored: only their sums leave a lateral face.
 */
#ifndef ISONEUTRAL_MIXING_H
#define ISONEUTRAL_MIXING_H

#include "neutral.h"
#include "tridiagonal.h"

/* A value for temperature, and one for salinity. */
struct pair {
    real T, S;
};

INLINED struct pair plus(struct pair a, real factor, struct pair b)
{
    return (struct pair){a.T + factor * b.T, a.S + factor * b.S};
}

INLINED struct pair difference(const real *T, const real *S, count from, count to)
{
    return (struct pair){T[to] - T[from], S[to] - S[from]};
}

/* ---- lateral faces ---- */

/* taper * s and taper * s^2. */
struct corner {
    real s, s2;
};

/* The corners of a face in one of its cells, with the faces below and above that cell. */
struct corners {
    struct corner below, above;
};

/* The fluxes through a face by isoneutral and by skew diffusion, its corners in the cell here and
 * in the next one, and the streamfunction of the eddies' overturning (Gent and McWilliams 1990):
 * the mean of K_gm about it times that of its four tapered slopes. */
struct neutral_face {
    struct pair iso, skew;
    struct corners here, next;
    real stream;
};

/* A corner, and its part of K_11 or K_22. */
struct tapered {
    struct corner corner;
    real K;
};

INLINED struct tapered tapered(const struct arguments *a, real s, real K_iso)
{
    const real t = taper(a, s);
    return (struct tapered){{t * s, t * s * s}, larger(a->K_iso_steep, K_iso * t)};
}

/* The face between cell i and the one at distance `next`; `per_dx` is 0 where it is closed. The
 * tensor of skew diffusion has no diagonal, but in pyOM2 and in Veros before 1.7 K_11 and K_22 act
 * in both fluxes, and so twice; they do here, too, if pyom_compatibility_mode is set. */
INLINED struct neutral_face neutral_face(const struct arguments *a, const struct neutral_level *l,
                                         count i, count next, real per_dx, struct neutral_cell here,
                                         struct neutral_cell there)
{
    const real *const T = a->temp, *const S = a->salt;
    const count j = i + next;
    const struct pair d = difference(T, S, i, j);
    const struct slopes s = slopes_of_face(a, i, j, per_dx, here, there);
    const real K_iso = mean_of_four(a->K_iso, i, j, l->below);
    const real K_gm = a->enable_skew_diffusion * mean_of_four(a->K_gm, i, j, l->below);
    const struct tapered here_below = tapered(a, s.here_below, K_iso);
    const struct tapered next_below = tapered(a, s.next_below, K_iso);
    const struct tapered here_above = tapered(a, s.here_above, K_iso);
    const struct tapered next_above = tapered(a, s.next_above, K_iso);
    const real K = per_dx * l->per_4_dzt *
                   (l->dzw_below * (here_below.K + next_below.K) +
                    l->dzw_above * (here_above.K + next_above.K));

    const struct pair lateral = {K * d.T, K * d.S};
    const real diagonal = a->enable_skew_diffusion * a->pyom_compatibility_mode;
    const struct pair in_skew = {diagonal * lateral.T, diagonal * lateral.S};
    struct pair sloping = {0, 0};
    sloping = plus(sloping, here_below.corner.s, difference(T, S, i - l->below, i));
    sloping = plus(sloping, next_below.corner.s, difference(T, S, j - l->below, j));
    sloping = plus(sloping, here_above.corner.s, difference(T, S, i, i + l->above));
    sloping = plus(sloping, next_above.corner.s, difference(T, S, j, j + l->above));
    return (struct neutral_face){
        .iso = plus(lateral, K_iso * l->per_4_dzt, sloping),
        .skew = plus(in_skew, -K_gm * l->per_4_dzt, sloping),
        .here = {here_below.corner, here_above.corner},
        .next = {next_below.corner, next_above.corner},
        .stream =
            (real)0.25 * K_gm *
            (here_below.corner.s + next_below.corner.s + here_above.corner.s + next_above.corner.s),
    };
}

/* ---- the sums of a cell over its four faces ---- */

/* Sums over the corners of an upper face, to be multiplied by a diffusivity: they give the fluxes
 * of temperature and salinity, and K_33. */
struct sums {
    real T, S, K;
};

struct lateral_sums {
    struct pair iso, skew;    /* tendencies by lateral fluxes */
    struct sums below, above; /* contributions of the cell's corners to its lower and upper face */
    real loss_iso, loss_skew; /* the dissipation by lateral fluxes */
};

/* A lateral face, seen from one of its two cells. */
struct side {
    struct neutral_face face;
    count to;      /* the offset to the cell beyond it */
    bool is_ahead; /* east or north */
    real weight;   /* its length over four times the cell's area */
    real distance; /* between the two cells, as in gradients */
};

INLINED real along(struct pair a, struct pair b)
{
    return a.T * b.T + a.S * b.S;
}

INLINED void add_corner(struct sums *sums, const struct side *side, struct corner corner,
                        struct pair d)
{
    const real s = side->weight * corner.s;
    sums->T += s * d.T;
    sums->S += s * d.S;
    sums->K += side->weight * side->distance * corner.s2;
}

/* Adds the contributions of a side to its cell. Each of the two cells has half of the dissipation
 * by a face's fluxes. */
INLINED void add_side(const struct arguments *a, struct lateral_sums *l, count i, struct side side,
                      bool dissipates)
{
    const struct neutral_face *const f = &side.face;
    const count from = side.is_ahead ? i : i + side.to, to = side.is_ahead ? i + side.to : i;
    const struct pair d = difference(a->temp, a->salt, from, to);
    const real outwards = side.is_ahead ? 4 * side.weight : -4 * side.weight;
    l->iso = plus(l->iso, outwards, f->iso);
    l->skew = plus(l->skew, outwards, f->skew);
    const struct corners corners = side.is_ahead ? f->here : f->next;
    add_corner(&l->below, &side, corners.below, d);
    add_corner(&l->above, &side, corners.above, d);
    if (dissipates) {
        const struct pair X = difference(a->int_drhodT, a->int_drhodS, from, to);
        const real half = (real)(2 * GRAVITY / RHO_0) * side.weight;
        l->loss_iso += half * along(X, f->iso);
        l->loss_skew += half * along(X, f->skew);
    }
}

/* The four sides of a cell, without their faces; weight_in_x is that of the two in x. */
INLINED real weight_in_x(const struct arguments *a, count y, count x)
{
    return 1 / (4 * a->dxt[x] * a->cost[y]);
}

INLINED struct side side_in_x(const struct arguments *a, real cost, real weight, count x,
                              bool is_ahead)
{
    return (struct side){.to = is_ahead ? 1 : -1,
                         .is_ahead = is_ahead,
                         .weight = weight,
                         .distance = cost * a->dxu[x - !is_ahead]};
}

INLINED struct side side_in_y(const struct arguments *a, count y, bool is_ahead)
{
    return (struct side){.to = is_ahead ? a->nx : -a->nx,
                         .is_ahead = is_ahead,
                         .weight = a->cosu[y - !is_ahead] / (4 * a->dyt[y] * a->cost[y]),
                         .distance = a->dyu[y - !is_ahead]};
}

/* ---- between levels ---- */

/* Values that the cells of a level share: a time step over distances, with the level below and with
 * the one above; how much of its own loss the lowest wet cell has beneath it; and reciprocals. */
struct mixed_level {
    real through_floor, through_top;
    real beneath;
    real per_dzt, per_dzw;
};

INLINED struct mixed_level mixed_level(const struct arguments *a, count k)
{
    const real dzw_below = a->dzw[k > 0 ? k - 1 : 0];
    const real per_dzt = 1 / a->dzt[k];
    return (struct mixed_level){
        .through_floor = a->dt_tracer * per_dzt / dzw_below,
        .through_top = a->dt_tracer * per_dzt / a->dzw[k],
        .beneath = dzw_below / a->dzw[k],
        .per_dzt = per_dzt,
        .per_dzw = 1 / a->dzw[k],
    };
}

/* The upper face of a cell: the fluxes that are explicit in time, and K_33. */
struct ceiling {
    struct pair iso, skew;
    real K_33;
};

#define CLOSED ((struct ceiling){{0, 0}, {0, 0}, 0})

INLINED struct ceiling ceiling(const struct arguments *a, count i, real mask, struct sums lower,
                               struct sums upper)
{
    const real K_iso = mask * a->K_iso[i], K_gm = a->enable_skew_diffusion * mask * a->K_gm[i];
    const real T = lower.T + upper.T, S = lower.S + upper.S;
    return (struct ceiling){
        {K_iso * T, K_iso * S}, {K_gm * T, K_gm * S}, K_iso * (lower.K + upper.K)};
}

/* Takes the flux through its floor from the tendencies of a cell. */
INLINED void subtract_floor(struct lateral_sums *l, struct ceiling floor, real per_dzt)
{
    l->iso = plus(l->iso, -per_dzt, floor.iso);
    l->skew = plus(l->skew, -per_dzt, floor.skew);
}

/* A reduced row x[k] + c' x[k+1] = d' of both tracers, which share the matrix, with the ratio of
 * tridiagonal.h; and the contribution of skew diffusion, which is added to the solution. */
struct reduced {
    real ratio;
    struct pair d, skew;
};

/* Makes the right-hand side of a level, from whose sums the flux through the floor is subtracted,
 * and eliminates the level below from its row. */
INLINED struct reduced eliminate_both(const struct arguments *a, struct mixed_level m, real mask,
                                      struct pair taup1, const struct lateral_sums *l,
                                      real floor_K_33, struct ceiling top, real ratio_below,
                                      struct pair d_below)
{
    const real lower = -m.through_floor * floor_K_33;
    const real upper = -m.through_top * top.K_33;
    const real step = a->dt_tracer * mask;
    const struct pair iso = plus(l->iso, m.per_dzt, top.iso);
    const struct pair skew = plus(l->skew, m.per_dzt, top.skew);
    const struct pair right = plus(plus(taup1, step, iso), -lower, d_below);
    const real rest = 1 - lower * one_plus_c(ratio_below), per_pivot = 1 / (rest - upper);
    return (struct reduced){
        .ratio = rest * per_pivot,
        .d = {right.T * per_pivot, right.S * per_pivot},
        .skew = {step * skew.T, step * skew.S},
    };
}

/* ---- dissipation ---- */

/* The loss of dynamic enthalpy by a flux through an upper face, from the vertical gradients of
 * int_drhodT and int_drhodS. */
INLINED real vertical_loss(const struct arguments *a, struct mixed_level m, count i,
                           struct pair flux)
{
    const struct pair X = difference(a->int_drhodT, a->int_drhodS, i, i + a->ny * a->nx);
    return (real)(GRAVITY / RHO_0) * m.per_dzw * along(X, flux);
}

/* The dissipation at the upper face of a cell, as far as it is explicit in time: the mean of the
 * lateral losses of both cells and, for the lowest wet cell, the half of its own loss that lies
 * below it; plus the loss by the flux through the face. */
INLINED real explicit_loss(const struct arguments *a, struct mixed_level m, count k, count i,
                           real lower, real upper, struct pair flux)
{
    const count plane = a->ny * a->nx;
    const count lowest = a->kbot[i - k * plane] - 1;
    const real is_wet = lowest >= 0 && k >= lowest;
    const real is_lowest = lowest >= 0 && k == lowest;
    return (real)0.5 * (is_wet * (lower + upper) + is_lowest * m.beneath * lower) +
           vertical_loss(a, m, i, flux);
}

/* The explicit dissipation at the surface, which has no level above. */
INLINED real surface_loss(const struct arguments *a, count k, count i, real own)
{
    const real is_wet = a->kbot[i - k * a->ny * a->nx] > 0;
    return is_wet * own;
}

/* The dissipation by the part of the flux through an upper face that the column solve makes. */
INLINED real implicit_loss(const struct arguments *a, struct mixed_level m, count i, real K_33,
                           struct pair lower, struct pair upper)
{
    const real factor = K_33 * m.per_dzw;
    const struct pair rise = plus(upper, -1, lower);
    return vertical_loss(a, m, i, (struct pair){factor * rise.T, factor * rise.S});
}

#endif
