/*
 * Dynamic enthalpy by TEOS-10, and its derivatives, as means over pressure.
 *
 * Specific volume is v = N / D = (1 + n / d) / V01 (teos10.h), so that
 *
 *     dv/dT = (n_T - n / d d_T) / (V01 d)
 *
 * and the same by salinity. All means use the nodes of the same rule, with n, d and their
 * derivatives there. A caller that needs only one mean does not pay for the others, because the
 * functions are inlined.
 */
#ifndef EOS_ENTHALPY_H
#define EOS_ENTHALPY_H

#include "maths.h"
#include "quadrature.h"
#include "teos10.h"

/* Means over pressure of n / d, which is V01 v - 1, and of its derivatives by temperature and
 * salinity.
 */
struct means {
    real v, v_T, v_S;
};

/* Adds a node at pressure p to the means; `per_d` is 1 / d there. */
INLINED struct means with_node(struct means m, const struct teos10 *f, const struct teos10 *f_T,
                               const struct teos10 *f_S, real p, real per_d, real weight)
{
    const real v = teos10_n(f, p) * per_d;
    const real w = weight * per_d;
    return (struct means){
        m.v + weight * v,
        m.v_T + w * (teos10_n(f_T, p) - v * teos10_d(f_T, p)),
        m.v_S + w * (teos10_n(f_S, p) - v * teos10_d(f_S, p)),
    };
}

/* A pair of nodes costs one division. The node in the middle goes first: at the end it would cost
 * registers of a GPU. */
INLINED struct means means(const struct teos10 *f, real s, real t, real r, real p, int nodes)
{
    const struct teos10 f_T = teos10_dt(s, t, r), f_S = teos10_ds(s, t, r);
    const struct node_pair *const rule = quadrature_rule(nodes);
    struct means sum = {0};
    if (nodes % 2 > 0) {
        const struct node_pair only = rule[nodes / 2];
        const real middle = p * (real)only.x;
        sum = with_node(sum, f, &f_T, &f_S, middle, 1 / teos10_d(f, middle), (real)only.weight);
    }
    UNROLL
    for (int k = 0; k < nodes / 2; k++) {
        const real low = p * (real)rule[k].x, high = p * (real)(1 - rule[k].x);
        const real d_low = teos10_d(f, low), d_high = teos10_d(f, high);
        const real per_both = 1 / (d_low * d_high);
        const real weight = (real)rule[k].weight;
        sum = with_node(sum, f, &f_T, &f_S, low, per_both * d_high, weight);
        sum = with_node(sum, f, &f_T, &f_S, high, per_both * d_low, weight);
    }
    return sum;
}

#endif
