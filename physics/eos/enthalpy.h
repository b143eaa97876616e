/*
 * Dynamic enthalpy by TEOS-10, and its derivatives, as means over pressure.
 *
 * Specific volume is v = N / D = (1 + n / d) / V01 (teos10.h), so that
 *
 *     dv/dT = (n_T - n / d d_T) / (V01 d)
 *
 * and likewise for salinity. All means use the nodes of the same rule. Nodes come in pairs, at x
 * and -x from the middle of the pressures, and a function has the value even + x odd at one node
 * and even - x odd at the other. The pairs (even, odd) add and multiply like complex numbers, with
 * the square of x in place of -1; a mean takes only the even part of its integrand.
 *
 * On the host, the unit of pressure is the first pair's x, whose square is then 1 and costs no
 * products.
 *
 * The functions are inlined, so that a caller who needs one mean does not pay for the others.
 */
#ifndef EOS_ENTHALPY_H
#define EOS_ENTHALPY_H

#include "maths.h"
#include "quadrature.h"
#include "teos10.h"

/* The values that the integrals to all points of a level share. */
struct integrals {
    struct teos10_terms terms;
    struct origin middle;
    real square; /* of the first pair's x, in the units of the polynomials */
    real joules; /* factor of the means below */
};

INLINED struct integrals integrals(real p, int nodes)
{
    const struct node_pair first = quadrature_rule(nodes)[0];
    const real x = p * (real)(0.5 - first.x);
    const struct origin middle = {p / 2, HOST_OR_OFFLOAD(x, 1)};
    return (struct integrals){
        .terms = teos10_terms(HOST_OR_OFFLOAD(middle, FROM_SURFACE)),
        .middle = middle,
        .square = HOST_OR_OFFLOAD(1, x * x),
        .joules = (real)(1e4 / V01 * 2 * first.weight) * p,
    };
}

/* The polynomials about the middle pressure. They are sums of the terms. The host moves the terms,
 * once for all points of a level; a thread of a GPU moves the sums of its point. */
INLINED struct teos10_slopes about_middle(const struct integrals *level, real s, real t, real r)
{
    return HOST_OR_OFFLOAD(teos10(&level->terms, s, t, r),
                           teos10_moved(level->middle, teos10(&level->terms, s, t, r)));
}

/* even + x odd. */
struct halves {
    real even, odd;
};

INLINED struct halves d_halves(const struct teos10 *f, real square)
{
    return (struct halves){f->d.p0 + square * f->d.p2, f->d.p1};
}

INLINED struct halves n_halves(const struct teos10 *f, real square)
{
    return (struct halves){f->n.p0 + square * f->n.p2, f->n.p1 + square * f->n.p3};
}

INLINED struct halves reciprocal(struct halves a, real square)
{
    const real per_both = 1 / (a.even * a.even - a.odd * (square * a.odd));
    return (struct halves){a.even * per_both, -a.odd * per_both};
}

INLINED struct halves product(struct halves a, struct halves b, real square)
{
    return (struct halves){
        a.even * b.even + a.odd * (square * b.odd),
        a.odd * b.even + a.even * b.odd,
    };
}

/* a - b c. */
INLINED struct halves less_product(struct halves a, struct halves b, struct halves c, real square)
{
    return (struct halves){
        a.even - b.even * c.even - b.odd * (square * c.odd),
        a.odd - b.odd * c.even - b.even * c.odd,
    };
}

/* Means over pressure of n / d, which is V01 v - 1, and of its derivatives by temperature and
 * salinity, each divided by the weight of the first pair. */
struct means {
    real v, v_T, v_S;
};

/* The mean of the derivative whose polynomials are f at a pair of nodes. */
INLINED real slope_at_pair(const struct teos10 *f, struct halves v, struct halves per_d,
                           real square)
{
    const struct halves part = less_product(n_halves(f, square), v, d_halves(f, square), square);
    return product(part, per_d, square).even;
}

INLINED struct means at_pair(const struct teos10_slopes *w, real square)
{
    const struct halves per_d = reciprocal(d_halves(&w->f, square), square);
    const struct halves v = product(n_halves(&w->f, square), per_d, square);
    return (struct means){
        v.even,
        slope_at_pair(&w->f_T, v, per_d, square),
        slope_at_pair(&w->f_S, v, per_d, square),
    };
}

INLINED struct means at_middle(const struct teos10_slopes *w)
{
    const real per_d = 1 / w->f.d.p0, v = w->f.n.p0 * per_d;
    return (struct means){
        v,
        (w->f_T.n.p0 - v * w->f_T.d.p0) * per_d,
        (w->f_S.n.p0 - v * w->f_S.d.p0) * per_d,
    };
}

INLINED struct means plus_means(struct means sum, struct means m, real weight)
{
    return (struct means){
        sum.v + weight * m.v,
        sum.v_T + weight * m.v_T,
        sum.v_S + weight * m.v_S,
    };
}

INLINED struct means means(const struct integrals *level, real s, real t, int nodes)
{
    const struct teos10_slopes w = about_middle(level, s, t, square_root(s));
    const struct node_pair *const rule = quadrature_rule(nodes);
    struct means sum = {0};
    if (nodes % 2 > 0)
        sum = plus_means(sum, at_middle(&w), (real)(rule[nodes / 2].weight / rule[0].weight / 2));
    UNROLL
    for (int k = 0; k < nodes / 2; k++) {
        const double ratio = (0.5 - rule[k].x) / (0.5 - rule[0].x);
        const struct means pair = at_pair(&w, level->square * (real)(ratio * ratio));
        sum = plus_means(sum, pair, (real)(rule[k].weight / rule[0].weight));
    }
    return sum;
}

#endif
