/*
 * The derivatives of density by temperature and salinity: by equations of state 1 to 4 as in Veros,
 * which are Vallis's (2006) or simpler, with drho/dT linear in temperature and depth; and by
 * TEOS-10.
 */
#ifndef EXPANSION_H
#define EXPANSION_H

#include "constants.h"
#include "maths.h"
#include "teos10.h"

#define THETA_0 9.85
#define BETA_T 1.67e-4
#define BETA_T_STAR 1e-5
#define BETA_S 0.78e-3
#define GAMMA_STAR 1.1e-8
#define SALT_0 35
#define SPEED_OF_SOUND 1490

struct expansion {
    real drdT, drdS;
};

/* Equations of state 1 to 4: drdT at THETA_0 and at the surface, how it changes with temperature
 * and depth, drdS, and how density itself grows with depth. */
struct linear_expansion {
    real drdT, drdT_by_T, drdT_by_depth, drdS, dr_by_depth;
};

INLINED struct linear_expansion linear_expansion(int eq_of_state_type)
{
    return (struct linear_expansion){
        .drdT = (real)(-RHO_0 * BETA_T),
        .drdT_by_T = (real)(eq_of_state_type == 1 ? 0 : -RHO_0 * BETA_T_STAR),
        .drdT_by_depth =
            (real)(eq_of_state_type == 3 ? -RHO_0 * BETA_T * GAMMA_STAR * GRAVITY * RHO_0 : 0),
        .drdS = (real)(eq_of_state_type == 4 ? 0 : RHO_0 * BETA_S),
        .dr_by_depth =
            (real)(eq_of_state_type == 3 ? RHO_0 * GRAVITY / (SPEED_OF_SOUND * SPEED_OF_SOUND) : 0),
    };
}

/* The derivatives of rho = D / N = V01 d / (n + d), by the quotient rule; p in dbar. */
INLINED struct expansion teos10_expansion(real s, real t, real p)
{
    const struct teos10_terms terms = teos10_terms(FROM_SURFACE);
    const struct teos10_slopes w = teos10(&terms, s, t, square_root(s));
    const real d = teos10_d(&w.f, p), n = teos10_n(&w.f, p);
    const real factor = (real)V01 / ((n + d) * (n + d));
    return (struct expansion){
        factor * (teos10_d(&w.f_T, p) * n - d * teos10_n(&w.f_T, p)),
        factor * (teos10_d(&w.f_S, p) * n - d * teos10_n(&w.f_S, p)),
    };
}

#endif
