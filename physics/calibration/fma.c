/*
 * Calibration: fused multiply-adds in chains that do not wait for each other, all in registers. The
 * rate that they reach is the ceiling of every kernel that is limited by arithmetic.
 */
#include "directives.h"
#include "variant.h"

#define DESCRIPTION "calibration/fma.kernel"

enum { CHAINS = 8, LINKS = 32 };

/* A chain is a polynomial in s by Horner's rule, with all coefficients but the first equal.
 * Eight chains hide the latency of a processor's arithmetic units: 4 cycles, and two operations
 * a cycle. */
INLINED real chains(real s)
{
    real c[CHAINS];
    UNROLL
    for (int k = 0; k < CHAINS; k++)
        c[k] = (real)k;
    UNROLL
    for (int link = 0; link < LINKS; link++) {
        UNROLL
        for (int k = 0; k < CHAINS; k++)
            c[k] = c[k] * s + (real)(0.5 + 0.125 * k);
    }
    return ((c[0] + c[1]) + (c[2] + c[3])) + ((c[4] + c[5]) + (c[6] + c[7]));
}

void VARIANT(fma)(const struct kernel_call *call)
{
#include "unpack.h"

    PARALLEL_ROWS
    for (count z = 0; z < nz; z++)
        for (count y = 0; y < ny; y++)
            for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
                const count row = (z * ny + y) * nx;
                ALONG_X
                for (count i = row + x0; i < row + x0 + ROW_PART(nx); i++)
                    result[i] = chains(sample[i]);
            }
}
