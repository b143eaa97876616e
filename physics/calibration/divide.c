/*
 * Calibration: divisions in chains that do not wait for each other, all in registers. A division
 * takes as long as ten fused multiply-adds or more, so that a kernel with many of them stays far
 * below the rate of fma.
 */
#include "directives.h"
#include "variant.h"

#define DESCRIPTION "calibration/divide.kernel"

enum { CHAINS = 8, LINKS = 9 };

/* Each link of a chain divides the same number by the quotient of the link before. So quotients
 * alternate between two values, and after an odd number of links the number is divided once. */
INLINED real quotients(real number)
{
    real c[CHAINS];
    UNROLL
    for (int k = 0; k < CHAINS; k++)
        c[k] = (real)(k + 1);
    UNROLL
    for (int link = 0; link < LINKS; link++) {
        UNROLL
        for (int k = 0; k < CHAINS; k++)
            c[k] = number / c[k];
    }
    return ((c[0] + c[1]) + (c[2] + c[3])) + ((c[4] + c[5]) + (c[6] + c[7]));
}

void VARIANT(divide)(const struct kernel_call *call)
{
#include "unpack.h"

    PARALLEL_ROWS
    for (count z = 0; z < nz; z++)
        for (count y = 0; y < ny; y++)
            for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
                const count row = (z * ny + y) * nx;
                ALONG_X
                for (count i = row + x0; i < row + x0 + ROW_PART(nx); i++)
                    result[i] = quotients(5 + sample[i]);
            }
}
