/*
 * Parameters of internal waves on the W grid, as in Veros's set_idemix_parameter (Olbers and Eden
 * 2013): with x = N / |f|, and the speed cstar of the jstar-th mode, which is at least 0.01 m/s,
 *
 *     c0 = gamma cstar 0.9 y^(-2/3) (1 - exp(-y / 4.3)) / acos(1 / y),    y = max(3, x)
 *     v0 = gamma cstar (x - 1) / (x + 1) / acos(1 / x),                   0 where x < 1
 *     alpha_c = max(1e-4, mu0 acosh(x) |f| / cstar^2),                    1e-4 where x < 1
 *
 * the vertical and the lateral group velocity and the parameter of dissipation. Veros writes
 * acos(1 / x) as pi / 2 - asin(1 / x).
 */
#include "arctan.h"
#include "directives.h"
#include "logarithm.h"
#include "rows.h"

#define DESCRIPTION "waves/idemix_parameters.kernel"

#define LEAST_CORIOLIS ((real)1e-22)
#define LEAST_SPEED ((real)1e-2)
#define LEAST_DISSIPATION ((real)1e-4)
#define NOT_0 ((real)1e-20)
#define LEAST_RATIO 3
#define ANGLE_OF_LEAST_RATIO ((real)1.2309594173407746821) /* acos(1 / 3) */

struct wave_parameters {
    real c0, v0, alpha_c;
};

/* acos(c) = sqrt(1 - c^2) above / below for c from 0 to 1, with an error of 6e-17. */
struct angle {
    real above, below;
};

INLINED struct angle angle_of(real c)
{
#define C(number) ((real)(number))
    const real above =
        C(1.5707963267948965303) +
        c * (C(3.7714243879056081612) +
             c * (C(3.2578992365116643288) +
                  c * (C(1.22433941850200049) +
                       c * (C(0.19051684381249966465) + c * (C(0.009188301638923484142) +
                                                             c * C(0.000026897910831215644061))))));
    const real below =
        1 + c * (C(3.037583107697575066) +
                 c * (C(3.5078285369157535775) +
                      c * (C(1.9182133142852881278) + c * (C(0.50273535618310697152) +
                                                           c * (C(0.055999612048894398116) +
                                                                c * C(0.001831485945805727494))))));
#undef C
    return (struct angle){above, below};
}

/* x^(-2/3) for x from 1 to 1e38. A third of the exponent is off by a tenth at most, and each step
 * leaves an eighth of the fourth power of what the cube is off. */
INLINED real power_of_minus_two_thirds(real x)
{
    const float rough = (float)x;
    uint32_t bits;
    float guess;
    __builtin_memcpy(&bits, &rough, sizeof bits);
    bits = 0x54a20000U - bits / 3;
    __builtin_memcpy(&guess, &bits, sizeof guess);
    real root = guess;
    UNROLL
    for (int step = 0; step < 2; step++) {
        const real off = 1 - x * root * root * root;
        root += root * off * ((real)(1.0 / 3) + off * ((real)(2.0 / 9) + off * (real)(14.0 / 81)));
    }
    return root * root;
}

INLINED struct wave_parameters wave_parameters(real x, real speed, real dissipation)
{
    const real c = 1 / x;
    const real sine = square_root((1 - c) * (1 + c));
    /* 1 / acos(c), over 1 + c */
    const struct angle angle = angle_of(c);
    const real shared = angle.below / (larger(NOT_0, sine) * (1 + c) * angle.above);
    const real per_angle = x < LEAST_RATIO ? 1 / ANGLE_OF_LEAST_RATIO : (1 + c) * shared;
    const real y = larger(LEAST_RATIO, x);
    const real g = (real)0.9 * power_of_minus_two_thirds(y) * per_angle *
                   (1 - power_of_2((real)-0.33551047462534032729 * y));
    const real acosh_x = (real)0.69314718055994530942 * log_2(x * (1 + sine));
    return (struct wave_parameters){
        .c0 = speed * g,
        .v0 = speed * (1 - c) * shared,
        .alpha_c = larger(LEAST_DISSIPATION, dissipation * acosh_x),
    };
}

void VARIANT(idemix_parameters)(const struct kernel_call *call)
{
#include "unpack.h"
    const count plane = ny * nx, top = (nz - 1) * plane;
    const count rows = rows_together(ny);

    PARALLEL_COLUMNS
    for (count y = 0; y < ny; y += rows)
        for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
            const count first = y * nx + x0;
            const count end = first + rows_left(rows, y, ny) * ROW_PART(nx);

            /* Two levels of outputs, which are written last, keep a column's factors; c0 keeps x.
             */
            real *const speed = v0 + top, *const factor = alpha_c + top;
            ALONG_X
            for (count column = first; column < end; column++)
                factor[column] = 1 / (magnitude(coriolis_t[column]) + LEAST_CORIOLIS);
            for (count k = 0; k < nz; k++) {
                const real height = k < nz - 1 ? dzw[k] : dzw[k] / 2;
                ALONG_X
                for (count column = first; column < end; column++) {
                    const count i = k * plane + column;
                    const real N = square_root(larger(0, Nsqr[i]));
                    speed[column] = (k > 0 ? speed[column] : 0) + maskW[i] * height * N;
                    c0[i] = larger(1, N * factor[column]);
                }
            }
            ALONG_X
            for (count column = first; column < end; column++) {
                const real cstar = larger(LEAST_SPEED, speed[column] / ((real)PI * jstar));
                speed[column] = gamma * cstar;
                factor[column] = mu0 * magnitude(coriolis_t[column]) / (cstar * cstar);
            }
            for (count k = 0; k < nz; k++) {
                ALONG_X
                for (count column = first; column < end; column++) {
                    const count i = k * plane + column;
                    const struct wave_parameters made =
                        wave_parameters(c0[i], speed[column], factor[column]);
                    c0[i] = maskW[i] * made.c0;
                    v0[i] = maskW[i] * made.v0;
                    alpha_c[i] = maskW[i] * made.alpha_c;
                }
            }
        }
}
