/*
 * Specific volume of seawater in the 48-term form of TEOS-10: a ratio v = N / D of polynomials
 * in Absolute Salinity s, its root r, Conservative Temperature t and pressure p.
 *
 * Subtracting a constant from v changes no derivative, so D and N stand here as
 *
 *     d = D / V01    and    n = N - d,
 *
 * both in powers of p, d of order one and n small. A numerator of a derivative is then
 *
 *     N' D - N D' = V01 (n' d - n d'),
 *
 * which loses far fewer digits to cancellation than the same with N and D.
 */
#ifndef TEOS10_H
#define TEOS10_H

#include "directives.h"
#include "variant.h"

/* The published coefficients, with the published numbers (IOC, SCOR and IAPSO 2010, table A.30;
 * v01 to v20 make D, v21 to v48 make N). */
#define V01 9.998420897506056e+2
#define V02 2.839940833161907e0
#define V03 -3.147759265588511e-2
#define V04 1.181805545074306e-3
#define V05 -6.698001071123802e0
#define V06 -2.986498947203215e-2
#define V07 2.327859407479162e-4
#define V08 -3.988822378968490e-2
#define V09 5.095422573880500e-4
#define V10 -1.426984671633621e-5
#define V11 1.645039373682922e-7
#define V12 -2.233269627352527e-2
#define V13 -3.436090079851880e-4
#define V14 3.726050720345733e-6
#define V15 -1.806789763745328e-4
#define V16 6.876837219536232e-7
#define V17 -3.087032500374211e-7
#define V18 -1.988366587925593e-8
#define V19 -1.061519070296458e-11
#define V20 1.550932729220080e-10
#define V21 1.0
#define V22 2.775927747785646e-3
#define V23 -2.349607444135925e-5
#define V24 1.119513357486743e-6
#define V25 6.743689325042773e-10
#define V26 -7.521448093615448e-3
#define V27 -2.764306979894411e-5
#define V28 1.262937315098546e-7
#define V29 9.527875081696435e-10
#define V30 -1.811147201949891e-11
#define V31 -3.303308871386421e-5
#define V32 3.801564588876298e-7
#define V33 -7.672876869259043e-9
#define V34 -4.634182341116144e-11
#define V35 2.681097235569143e-12
#define V36 5.419326551148740e-6
#define V37 -2.742185394906099e-5
#define V38 -3.212746477974189e-7
#define V39 3.191413910561627e-9
#define V40 -1.931012931541776e-12
#define V41 -1.105097577149576e-7
#define V42 6.211426728363857e-10
#define V43 -1.119011592875110e-10
#define V44 -1.941660213148725e-11
#define V45 -1.864826425365600e-14
#define V46 1.119522344879478e-14
#define V47 -1.200507748551599e-15
#define V48 6.057902487546866e-17

#define D(v) ((real)((v) / V01))
#define N(v, d) ((real)((v) - (d) / V01))
#define C(v) ((real)(v))

/* d = d0 + d1 p + d2 p^2 and n = n0 + n1 p + n2 p^2 + n3 p^3, or their derivatives. */
struct teos10 {
    real d0, d1, d2;
    real n0, n1, n2, n3;
};

/* The coefficients of d and n at one pressure, as polynomials in t (t0, t1, ...), s t (s0, ...), s
 * r t (r0, ...) and s^2 (ss). The polynomials have the same terms at every pressure, so a level's
 * coefficients are computed once. */
struct teos10_d_terms {
    real t0, t1, t2, t3, s0, s1, s2, r0, r1, r2, r3;
};
struct teos10_n_terms {
    real t0, t1, t2, t3, t4, s0, s1, s2, s3, s4, ss, r0, r1, r2, r3, r4;
};

INLINED struct teos10_d_terms teos10_d_terms(real p)
{
    return (struct teos10_d_terms){
        .t0 = D(V01) + p * (D(V12) + p * D(V17)),
        .t1 = D(V02) + p * (D(V13) + p * D(V18)),
        .t2 = D(V03) + p * (D(V14) + p * D(V19)),
        .t3 = D(V04),
        .s0 = D(V05) + p * (D(V15) + p * D(V20)),
        .s1 = D(V06) + p * D(V16),
        .s2 = D(V07),
        .r0 = D(V08),
        .r1 = D(V09),
        .r2 = D(V10),
        .r3 = D(V11),
    };
}

INLINED struct teos10_n_terms teos10_n_terms(real p)
{
    return (struct teos10_n_terms){
        .t0 = p * (N(V37, V12) + p * (N(V43, V17) + p * C(V47))),
        .t1 = N(V22, V02) + p * (N(V38, V13) + p * (N(V44, V18) + p * C(V48))),
        .t2 = N(V23, V03) + p * (N(V39, V14) + p * N(V45, V19)),
        .t3 = N(V24, V04) + p * C(V40),
        .t4 = C(V25),
        .s0 = N(V26, V05) + p * (N(V41, V15) + p * N(0, V20)),
        .s1 = N(V27, V06) + p * (N(V42, V16) + p * C(V46)),
        .s2 = N(V28, V07),
        .s3 = C(V29),
        .s4 = C(V30),
        .ss = C(V36),
        .r0 = N(V31, V08),
        .r1 = N(V32, V09),
        .r2 = N(V33, V10),
        .r3 = N(V34, V11),
        .r4 = C(V35),
    };
}

INLINED real teos10_d_of(const struct teos10_d_terms *c, real s, real t, real r)
{
    return c->t0 + t * (c->t1 + t * (c->t2 + t * c->t3)) +
           s * (c->s0 + t * (c->s1 + t * c->s2) +
                r * (c->r0 + t * (c->r1 + t * (c->r2 + t * c->r3))));
}

INLINED real teos10_n_of(const struct teos10_n_terms *c, real s, real t, real r)
{
    return c->t0 + t * (c->t1 + t * (c->t2 + t * (c->t3 + t * c->t4))) +
           s * (c->s0 + t * (c->s1 + t * (c->s2 + t * (c->s3 + t * c->s4))) + s * c->ss +
                r * (c->r0 + t * (c->r1 + t * (c->r2 + t * (c->r3 + t * c->r4)))));
}

INLINED struct teos10 teos10(real s, real t, real r)
{
    const struct teos10_d_terms d = teos10_d_terms(0);
    const struct teos10_n_terms n = teos10_n_terms(0);
    return (struct teos10){
        .d0 = teos10_d_of(&d, s, t, r),
        .d1 = D(V12) + t * (D(V13) + t * D(V14)) + s * (D(V15) + t * D(V16)),
        .d2 = D(V17) + t * (D(V18) + t * D(V19)) + s * D(V20),
        .n0 = teos10_n_of(&n, s, t, r),
        .n1 = N(V37, V12) + t * (N(V38, V13) + t * (N(V39, V14) + t * C(V40))) +
              s * (N(V41, V15) + t * N(V42, V16)),
        .n2 = N(V43, V17) + t * (N(V44, V18) + t * N(V45, V19)) + s * (N(0, V20) + t * C(V46)),
        .n3 = C(V47) + t * C(V48),
    };
}

/* The derivatives by t. */
INLINED struct teos10 teos10_dt(real s, real t, real r)
{
    return (struct teos10){
        .d0 = D(V02) + t * (D(2 * V03) + t * D(3 * V04)) +
              s * (D(V06) + t * D(2 * V07) + r * (D(V09) + t * (D(2 * V10) + t * D(3 * V11)))),
        .d1 = D(V13) + t * D(2 * V14) + s * D(V16),
        .d2 = D(V18) + t * D(2 * V19),
        .n0 = N(V22, V02) + t * (N(2 * V23, 2 * V03) + t * (N(3 * V24, 3 * V04) + t * C(4 * V25))) +
              s * (N(V27, V06) + t * (N(2 * V28, 2 * V07) + t * (C(3 * V29) + t * C(4 * V30))) +
                   r * (N(V32, V09) +
                        t * (N(2 * V33, 2 * V10) + t * (N(3 * V34, 3 * V11) + t * C(4 * V35))))),
        .n1 = N(V38, V13) + t * (N(2 * V39, 2 * V14) + t * C(3 * V40)) + s * N(V42, V16),
        .n2 = N(V44, V18) + t * N(2 * V45, 2 * V19) + s * C(V46),
        .n3 = C(V48),
    };
}

/* The derivatives by s: that of s r is 1.5 r, so nothing is divided by the root. */
INLINED struct teos10 teos10_ds(real s, real t, real r)
{
    return (struct teos10){
        .d0 = D(V05) + t * (D(V06) + t * D(V07)) +
              r * (D(1.5 * V08) + t * (D(1.5 * V09) + t * (D(1.5 * V10) + t * D(1.5 * V11)))),
        .d1 = D(V15) + t * D(V16),
        .d2 = D(V20),
        .n0 = N(V26, V05) + t * (N(V27, V06) + t * (N(V28, V07) + t * (C(V29) + t * C(V30)))) +
              s * C(2 * V36) +
              r * (N(1.5 * V31, 1.5 * V08) +
                   t * (N(1.5 * V32, 1.5 * V09) +
                        t * (N(1.5 * V33, 1.5 * V10) +
                             t * (N(1.5 * V34, 1.5 * V11) + t * C(1.5 * V35))))),
        .n1 = N(V41, V15) + t * N(V42, V16),
        .n2 = N(0, V20) + t * C(V46),
        .n3 = 0,
    };
}

INLINED real teos10_d(const struct teos10 *f, real p)
{
    return f->d0 + p * (f->d1 + p * f->d2);
}

INLINED real teos10_n(const struct teos10 *f, real p)
{
    return f->n0 + p * (f->n1 + p * (f->n2 + p * f->n3));
}

#undef D
#undef N
#undef C

#endif
