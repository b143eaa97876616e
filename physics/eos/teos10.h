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
 * which loses far fewer digits to cancellation than N' D - N D' does.
 */
#ifndef TEOS10_H
#define TEOS10_H

#include "directives.h"
#include "variant.h"

/* Begins a block in which Clang does not fuse the host's products and sums, so that two sums can
 * share a product. On AMD's cores from Zen on, a product and two sums take less time than two fused
 * multiply-adds, because additions have execution units of their own. GPU compilers and GCC still
 * fuse. */
#if defined(__clang__) && !defined(PHYSICS_OFFLOAD)
#define SEPARATE_SUMS _Pragma("clang fp contract(off)")
#else
#define SEPARATE_SUMS
#endif

/* The published coefficients, numbered as published (IOC, SCOR and IAPSO 2010, table A.30;
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

/* A polynomial in pressure: p0 + p1 p + p2 p^2 + p3 p^3. */
struct powers {
    real p0, p1, p2, p3;
};

/* Pressure is measured from `middle` in multiples of `unit`; 0 and 1 leave it unchanged. */
struct origin {
    real middle, unit;
};
#define FROM_SURFACE ((struct origin){0, 1})

/* The polynomial with these coefficients, in powers of the pressure measured from an origin. There
 * is a function for each degree, because compilers would compute products with zeros. */
INLINED struct powers linear_about(struct origin o, real a0, real a1)
{
    return (struct powers){a0 + o.middle * a1, o.unit * a1};
}

INLINED struct powers quadratic_about(struct origin o, real a0, real a1, real a2)
{
    return (struct powers){
        a0 + o.middle * (a1 + o.middle * a2),
        o.unit * (a1 + 2 * o.middle * a2),
        o.unit * (o.unit * a2),
    };
}

INLINED struct powers cubic_about(struct origin o, real a0, real a1, real a2, real a3)
{
    const real p2 = a2 + 3 * o.middle * a3;
    return (struct powers){
        a0 + o.middle * (a1 + o.middle * (a2 + o.middle * a3)),
        o.unit * (a1 + o.middle * (a2 + p2)),
        o.unit * (o.unit * p2),
        o.unit * (o.unit * (o.unit * a3)),
    };
}

/* d and n, or terms of their sums. */
struct teos10 {
    struct powers d, n;
};

/* The coefficients of the powers of t (t0, t1, ...) and of s times these (s0, s1, ...). All other
 * terms do not depend on pressure. */
struct teos10_terms {
    struct teos10 t0, t1, t2, t3, t4;
    struct teos10 s0, s1, s2, s3, s4;
};

INLINED struct teos10_terms teos10_terms(struct origin o)
{
    return (struct teos10_terms){
        .t0 = {quadratic_about(o, D(V01), D(V12), D(V17)),
               cubic_about(o, N(V21, V01), N(V37, V12), N(V43, V17), C(V47))},
        .t1 = {quadratic_about(o, D(V02), D(V13), D(V18)),
               cubic_about(o, N(V22, V02), N(V38, V13), N(V44, V18), C(V48))},
        .t2 = {quadratic_about(o, D(V03), D(V14), D(V19)),
               quadratic_about(o, N(V23, V03), N(V39, V14), N(V45, V19))},
        .t3 = {{D(V04)}, linear_about(o, N(V24, V04), C(V40))},
        .t4 = {{0}, {C(V25)}},
        .s0 = {quadratic_about(o, D(V05), D(V15), D(V20)),
               quadratic_about(o, N(V26, V05), N(V41, V15), N(0, V20))},
        .s1 = {linear_about(o, D(V06), D(V16)),
               quadratic_about(o, N(V27, V06), N(V42, V16), C(V46))},
        .s2 = {{D(V07)}, {N(V28, V07)}},
        .s3 = {{0}, {C(V29)}},
        .s4 = {{0}, {C(V30)}},
    };
}

/* A polynomial in t and its derivative. On the host the derivative shares sums with the polynomial.
 * On a GPU the coefficients of both are literals, which costs no more and needs fewer registers. */
struct polynomial {
    real value, slope;
};

/* a + t b, one fused multiply-add. */
INLINED real fused(real a, real t, real b)
{
    return a + t * b;
}

/* On the host the two sums share a product. */
INLINED struct polynomial quadratic(real t, real a0, real a1, real a2)
{
    SEPARATE_SUMS
    const real sum = a1 + t * a2;
    return (struct polynomial){fused(a0, t, sum), HOST_OR_OFFLOAD(sum + t * a2, a1 + t * (2 * a2))};
}

INLINED struct polynomial cubic(real t, real a0, real a1, real a2, real a3)
{
    const struct polynomial f = quadratic(t, a1, a2, a3);
    return (struct polynomial){
        a0 + t * f.value,
        HOST_OR_OFFLOAD(f.value + t * f.slope, a1 + t * (2 * a2 + t * (3 * a3))),
    };
}

INLINED struct polynomial quartic(real t, real a0, real a1, real a2, real a3, real a4)
{
    const struct polynomial f = cubic(t, a1, a2, a3, a4);
    return (struct polynomial){
        a0 + t * f.value,
        HOST_OR_OFFLOAD(f.value + t * f.slope, a1 + t * (2 * a2 + t * (3 * a3 + t * (4 * a4)))),
    };
}

/* d and n, and their derivatives by temperature and salinity. */
struct teos10_slopes {
    struct teos10 f, f_T, f_S;
};

/* r is the root of s. The derivative of s r by s is 1.5 r, so nothing is divided by the root. */
INLINED struct teos10_slopes teos10(const struct teos10_terms *c, real s, real t, real r)
{
    const struct polynomial dt0 = cubic(t, c->t0.d.p0, c->t1.d.p0, c->t2.d.p0, c->t3.d.p0);
    const struct polynomial dt1 = quadratic(t, c->t0.d.p1, c->t1.d.p1, c->t2.d.p1);
    const struct polynomial dt2 = quadratic(t, c->t0.d.p2, c->t1.d.p2, c->t2.d.p2);
    const struct polynomial ds0 = quadratic(t, c->s0.d.p0, c->s1.d.p0, c->s2.d.p0);
    const struct polynomial dr = cubic(t, D(V08), D(V09), D(V10), D(V11));
    const struct polynomial nt0 =
        quartic(t, c->t0.n.p0, c->t1.n.p0, c->t2.n.p0, c->t3.n.p0, c->t4.n.p0);
    const struct polynomial nt1 = cubic(t, c->t0.n.p1, c->t1.n.p1, c->t2.n.p1, c->t3.n.p1);
    const struct polynomial nt2 = quadratic(t, c->t0.n.p2, c->t1.n.p2, c->t2.n.p2);
    const struct polynomial ns0 =
        quartic(t, c->s0.n.p0, c->s1.n.p0, c->s2.n.p0, c->s3.n.p0, c->s4.n.p0);
    const struct polynomial nr =
        quartic(t, N(V31, V08), N(V32, V09), N(V33, V10), N(V34, V11), C(V35));
    const real ds1 = c->s0.d.p1 + t * c->s1.d.p1;
    const real ns1 = c->s0.n.p1 + t * c->s1.n.p1;
    const real ns2 = c->s0.n.p2 + t * c->s1.n.p2;
    const real r_S = (real)1.5 * r;
    return (struct teos10_slopes){
        .f = {{dt0.value + s * (ds0.value + r * dr.value), dt1.value + s * ds1,
               dt2.value + s * c->s0.d.p2},
              {nt0.value + s * (ns0.value + s * C(V36) + r * nr.value), nt1.value + s * ns1,
               nt2.value + s * ns2, c->t0.n.p3 + t * c->t1.n.p3}},
        .f_T = {{dt0.slope + s * (ds0.slope + r * dr.slope), dt1.slope + s * c->s1.d.p1, dt2.slope},
                {nt0.slope + s * (ns0.slope + r * nr.slope), nt1.slope + s * c->s1.n.p1,
                 nt2.slope + s * c->s1.n.p2, c->t1.n.p3}},
        .f_S = {{ds0.value + r_S * dr.value, ds1, c->s0.d.p2},
                {ns0.value + s * C(2 * V36) + r_S * nr.value, ns1, ns2}},
    };
}

/* The polynomial about another origin. */
INLINED struct powers quadratic_moved(struct origin o, struct powers f)
{
    return quadratic_about(o, f.p0, f.p1, f.p2);
}

INLINED struct powers cubic_moved(struct origin o, struct powers f)
{
    return cubic_about(o, f.p0, f.p1, f.p2, f.p3);
}

INLINED struct teos10_slopes teos10_moved(struct origin o, struct teos10_slopes w)
{
    return (struct teos10_slopes){
        .f = {quadratic_moved(o, w.f.d), cubic_moved(o, w.f.n)},
        .f_T = {quadratic_moved(o, w.f_T.d), cubic_moved(o, w.f_T.n)},
        .f_S = {quadratic_moved(o, w.f_S.d), quadratic_moved(o, w.f_S.n)},
    };
}

INLINED real teos10_d(const struct teos10 *f, real p)
{
    return f->d.p0 + p * (f->d.p1 + p * f->d.p2);
}

INLINED real teos10_n(const struct teos10 *f, real p)
{
    return f->n.p0 + p * (f->n.p1 + p * (f->n.p2 + p * f->n.p3));
}

#undef D
#undef N
#undef C

#endif
