/*
 * Equation of state: dHdT, the derivative of dynamic enthalpy by Conservative Temperature.
 *
 * Dynamic enthalpy is the integral of specific volume v = N / D over pressure, so
 *
 *     dHdT = 1e4 * integral_0^p (N_t D - N D_t) / D^2 dp'        (1e4 Pa in a dbar)
 */
#include "maths.h"
#include "teos10.h"

#define DESCRIPTIONS "eos/eos.kernel"

/* One integrand as polynomials in pressure: (N_t D - N D_t) / D^2 = q / (V01 d^2). */
struct integrand {
    real q0, q1, q2, q3, q4, q5;
    real d0, d1, d2;
};

/* The sums are written as chains, each term of which is one fused multiply-add. */
INLINED struct integrand integrand(real s, real t)
{
    const real r = square_root(s);
    const struct teos10 f = teos10(s, t, r);
    const struct teos10 g = teos10_dt(s, t, r);
    return (struct integrand){
        .q0 = g.n0 * f.d0 - f.n0 * g.d0,
        .q1 = g.n1 * f.d0 + g.n0 * f.d1 - f.n1 * g.d0 - f.n0 * g.d1,
        .q2 = g.n2 * f.d0 + g.n1 * f.d1 + g.n0 * f.d2 - f.n2 * g.d0 - f.n1 * g.d1 - f.n0 * g.d2,
        .q3 = g.n3 * f.d0 + g.n2 * f.d1 + g.n1 * f.d2 - f.n3 * g.d0 - f.n2 * g.d1 - f.n1 * g.d2,
        .q4 = g.n3 * f.d1 + g.n2 * f.d2 - f.n3 * g.d1 - f.n2 * g.d2,
        .q5 = g.n3 * f.d2 - f.n3 * g.d2,
        .d0 = f.d0,
        .d1 = f.d1,
        .d2 = f.d2,
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

INLINED struct fraction integrand_at(const struct integrand *f, real p)
{
    const real q = f->q0 + p * (f->q1 + p * (f->q2 + p * (f->q3 + p * (f->q4 + p * f->q5))));
    const real d = f->d0 + p * (f->d1 + p * f->d2);
    return (struct fraction){q, d * d};
}

/* One pair of Gauss-Legendre nodes on [0, 1], x and 1 - x, which share their weight. */
struct pair {
    double x, weight;
};

/* The mean of q / d^2 from the surface to pressure p by 2 `pairs` nodes. `pairs` is a literal. */
INLINED real mean(const struct integrand *f, real p, int pairs)
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
    struct fraction sum;
    UNROLL
    for (int k = 0; k < pairs; k++) {
        struct fraction both =
            plus(integrand_at(f, p * (real)rule[k].x), integrand_at(f, p * (real)(1 - rule[k].x)));
        both.numerator *= (real)rule[k].weight;
        sum = k == 0 ? both : plus(sum, both);
    }
    return sum.numerator / sum.denominator;
}

/*
 * A part of a row by 2 `pairs` nodes. The function exists so that each count of nodes is a
 * literal in its own loop, which then has no inner loop and runs along SIMD lanes.
 */
INLINED void eos_row(const real *restrict salt, const real *restrict temp, real p,
                     real *restrict dHdT, ptrdiff_t points, int pairs)
{
    const real pascals = (real)(1e4 / V01) * p;
    ALONG_X
    for (ptrdiff_t x = 0; x < points; x++) {
        const struct integrand f = integrand(salt[x], temp[x]);
        dHdT[x] = pascals * mean(&f, p, pairs);
    }
}

void VARIANT(eos)(const struct kernel_call *call)
{
#include "unpack.h"

    SLABS(z0, z1, nz, ny * nx)
    SLABS(y0, y1, ny, nx)
    PARALLEL_ROWS
    for (count z = z0; z < z1; z++)
        for (count y = y0; y < y1; y++)
            for (count x = 0; x < (count)nx; x += ROW_PART(nx)) {
                const ptrdiff_t i = (z * ny + y) * nx + x;
                const ptrdiff_t n = ROW_PART(nx);
                if (p[z] <= 1400)
                    eos_row(salt + i, temp + i, p[z], dHdT + i, n, 2);
                else if (p[z] <= 4300)
                    eos_row(salt + i, temp + i, p[z], dHdT + i, n, 3);
                else if (p[z] <= 7000)
                    eos_row(salt + i, temp + i, p[z], dHdT + i, n, 4);
                else if (p[z] <= 9000)
                    eos_row(salt + i, temp + i, p[z], dHdT + i, n, 5);
                else
                    eos_row(salt + i, temp + i, p[z], dHdT + i, n, 8);
            }
}
