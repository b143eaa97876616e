/*
 * Equation of state: dHdT, the derivative of dynamic enthalpy by Conservative Temperature.
 *
 * Specific volume in the 48-term form of TEOS-10 is a ratio of polynomials in Absolute Salinity
 * s, its root, Conservative Temperature t and pressure p: v = N / D. Dynamic enthalpy is the
 * integral of v over pressure, so
 *
 *     dHdT = 1e4 * integral_0^p (N_t D - N D_t) / D^2 dp'        (1e4 Pa in a dbar)
 */
#include "directives.h"
#include "maths.h"
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

/*
 * One integrand as polynomials in x = p' / p. Subtracting a constant from v changes no
 * derivative, so with d = D / V01 and n = N - d, both of order one and n small,
 *
 *     (N_t D - N D_t) / D^2 = (n_t d - n d_t) / (V01 d^2) = q / (V01 d^2),
 *
 * which cancels far fewer digits than the same with N and D.
 */
struct integrand {
    real q0, q1, q2, q3, q4, q5;
    real d0, d1, d2;
};

#define D(v) ((real)((v) / V01))
#define N(v, d) ((real)((v) - (d) / V01))
#define C(v) ((real)(v))

INLINED struct integrand integrand(real s, real t, real p)
{
    const real r = square_root(s);

    /* d and its derivative by t, in powers of p */
    const real d0 = D(V01) + t * (D(V02) + t * (D(V03) + t * D(V04))) +
                    s * (D(V05) + t * (D(V06) + t * D(V07)) +
                         r * (D(V08) + t * (D(V09) + t * (D(V10) + t * D(V11)))));
    const real d1 = D(V12) + t * (D(V13) + t * D(V14)) + s * (D(V15) + t * D(V16));
    const real d2 = D(V17) + t * (D(V18) + t * D(V19)) + s * D(V20);
    const real d0t = D(V02) + t * (D(2 * V03) + t * D(3 * V04)) +
                     s * (D(V06) + t * D(2 * V07) +
                          r * (D(V09) + t * (D(2 * V10) + t * D(3 * V11))));
    const real d1t = D(V13) + t * D(2 * V14) + s * D(V16);
    const real d2t = D(V18) + t * D(2 * V19);

    /* n and its derivative */
    const real n0 =
        t * (N(V22, V02) + t * (N(V23, V03) + t * (N(V24, V04) + t * C(V25)))) +
        s * (N(V26, V05) + t * (N(V27, V06) + t * (N(V28, V07) + t * (C(V29) + t * C(V30)))) +
             s * C(V36) +
             r * (N(V31, V08) +
                  t * (N(V32, V09) + t * (N(V33, V10) + t * (N(V34, V11) + t * C(V35))))));
    const real n1 = N(V37, V12) + t * (N(V38, V13) + t * (N(V39, V14) + t * C(V40))) +
                    s * (N(V41, V15) + t * N(V42, V16));
    const real n2 = N(V43, V17) + t * (N(V44, V18) + t * N(V45, V19)) + s * N(0, V20) +
                    s * t * C(V46);
    const real n3 = C(V47) + t * C(V48);
    const real n0t =
        N(V22, V02) +
        t * (N(2 * V23, 2 * V03) + t * (N(3 * V24, 3 * V04) + t * C(4 * V25))) +
        s * (N(V27, V06) + t * (N(2 * V28, 2 * V07) + t * (C(3 * V29) + t * C(4 * V30))) +
             r * (N(V32, V09) + t * (N(2 * V33, 2 * V10) +
                                     t * (N(3 * V34, 3 * V11) + t * C(4 * V35)))));
    const real n1t = N(V38, V13) + t * (N(2 * V39, 2 * V14) + t * C(3 * V40)) + s * N(V42, V16);
    const real n2t = N(V44, V18) + t * N(2 * V45, 2 * V19) + s * C(V46);
    const real n3t = C(V48);

    const real p2 = p * p;
    const real p3 = p2 * p;
    return (struct integrand){
        .q0 = n0t * d0 - n0 * d0t,
        .q1 = (n1t * d0 + n0t * d1 - (n1 * d0t + n0 * d1t)) * p,
        .q2 = (n2t * d0 + n1t * d1 + n0t * d2 - (n2 * d0t + n1 * d1t + n0 * d2t)) * p2,
        .q3 = (n3t * d0 + n2t * d1 + n1t * d2 - (n3 * d0t + n2 * d1t + n1 * d2t)) * p3,
        .q4 = (n3t * d1 + n2t * d2 - (n3 * d1t + n2 * d2t)) * (p2 * p2),
        .q5 = (n3t * d2 - n3 * d2t) * (p3 * p2),
        .d0 = d0,
        .d1 = d1 * p,
        .d2 = d2 * p2,
    };
}

/* A sum of fractions is kept as one fraction, so that a point costs one division. All
 * denominators are of order one: their product neither overflows nor vanishes. */
struct fraction {
    real numerator, denominator;
};

INLINED struct fraction plus(struct fraction a, struct fraction b)
{
    return (struct fraction){a.numerator * b.denominator + b.numerator * a.denominator,
                             a.denominator * b.denominator};
}

INLINED struct fraction at(const struct integrand *f, real x)
{
    const real q = f->q0 + x * (f->q1 + x * (f->q2 + x * (f->q3 + x * (f->q4 + x * f->q5))));
    const real d = f->d0 + x * (f->d1 + x * f->d2);
    return (struct fraction){q, d * d};
}

/* One pair of Gauss-Legendre nodes on [0, 1], x and 1 - x, which share their weight. */
struct pair {
    double x, weight;
};

/* The integral of q / d^2 over x in [0, 1] by 2 `pairs` nodes. `pairs` is a literal. */
INLINED real integrate(const struct integrand *f, int pairs)
{
    static const struct pair rules[5][8] = {
        {{0.069431844202973712388, 0.17392742256872692869},
         {0.33000947820757186760, 0.32607257743127307131}},
        {{0.033765242898423986094, 0.085662246189585172520},
         {0.16939530676686774317, 0.18038078652406930378},
         {0.38069040695840154568, 0.23395696728634552369}},
        {{0.019855071751231884158, 0.050614268145188129576},
         {0.10166676129318663020, 0.11119051722668723527},
         {0.23723379504183550709, 0.15685332293894364367},
         {0.40828267875217509753, 0.18134189168918099148}},
        {{0.013046735741414139961, 0.033335672154344068797},
         {0.067468316655507744634, 0.074725674575290296573},
         {0.16029521585048779688, 0.10954318125799102200},
         {0.28330230293537640460, 0.13463335965499817755},
         {0.42556283050918439456, 0.14776211235737643509}},
        {{0.0052995325041750337019, 0.013576229705877047426},
         {0.027712488463383711961, 0.031126761969323946431},
         {0.067184398806084128060, 0.047579255841246392405},
         {0.12229779582249848305, 0.062314485627766936026},
         {0.19106187779867812578, 0.074797994408288366041},
         {0.27099161117138630683, 0.084578259697501269095},
         {0.35919822461037054338, 0.091301707522461794433},
         {0.45249374508118127991, 0.094725305227534248143}},
    };
    const struct pair *rule = rules[pairs < 6 ? pairs - 2 : 4];
    struct fraction sum = {0, 1};
    UNROLL
    for (int k = 0; k < pairs; k++) {
        struct fraction both = plus(at(f, (real)rule[k].x), at(f, (real)(1 - rule[k].x)));
        both.numerator *= (real)rule[k].weight;
        sum = plus(sum, both);
    }
    return sum.numerator / sum.denominator;
}

/*
 * A part of a row by 2 `pairs` nodes. The function exists so that each count of nodes is a
 * literal in its own loop, which then has no inner loop and runs along SIMD lanes.
 */
INLINED void row(const real *restrict salt, const real *restrict temp, real p,
                       real *restrict dHdT, ptrdiff_t points, int pairs)
{
    const real pascals = (real)(1e4 / V01) * p;
    ALONG_X
    for (ptrdiff_t x = 0; x < points; x++) {
        const struct integrand f = integrand(salt[x], temp[x], p);
        dHdT[x] = pascals * integrate(&f, pairs);
    }
}

void VARIANT(eos)(const struct physics_call *call)
{
    const ptrdiff_t nx = (ptrdiff_t)call->grid.nx;
    const ptrdiff_t ny = (ptrdiff_t)call->grid.ny;
    const ptrdiff_t nz = (ptrdiff_t)call->grid.nz;
    const real *const salt = call->input[PHYSICS_SALT];
    const real *const temp = call->input[PHYSICS_TEMP];
    const real *const p = call->input[PHYSICS_P];
    real *const dHdT = call->output[PHYSICS_DHDT];

    PARALLEL_ROWS
    for (ptrdiff_t z = 0; z < nz; z++)
        for (ptrdiff_t y = 0; y < ny; y++)
            for (ptrdiff_t x = 0; x < nx; x += ROW_PART(nx)) {
                const ptrdiff_t i = (z * ny + y) * nx + x;
                const ptrdiff_t n = ROW_PART(nx);
                if (p[z] <= 1400)
                    row(salt + i, temp + i, p[z], dHdT + i, n, 2);
                else if (p[z] <= 4300)
                    row(salt + i, temp + i, p[z], dHdT + i, n, 3);
                else if (p[z] <= 7000)
                    row(salt + i, temp + i, p[z], dHdT + i, n, 4);
                else if (p[z] <= 9000)
                    row(salt + i, temp + i, p[z], dHdT + i, n, 5);
                else
                    row(salt + i, temp + i, p[z], dHdT + i, n, 8);
            }
}
