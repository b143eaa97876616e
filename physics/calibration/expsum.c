/*
 * Calibration: the sum of exp(x^2 + 2 x), by OpenMP's reduction. The runtime chooses the order in
 * which it adds the threads' parts, so the last bits may depend on the number of threads and, if
 * there are more than two, differ from run to run. The rows are added in double in either
 * precision: a float would lose digits as the number of points grows.
 */
#include "directives.h"
#include "power.h"
#include "sums.h"

#define DESCRIPTION "calibration/expsum.kernel"

/* exp(x^2 + 2 x) */
INLINED real exponential_of(real x)
{
    const real log2_e = (real)1.4426950408889634074;
    return power_of_2(log2_e * (x * (x + 2)));
}

void VARIANT(expsum)(const struct kernel_call *call)
{
#include "unpack.h"
    double total = 0;

    PARALLEL_ROWS_SUM(total, nz * ny * nx)
    for (count z = 0; z < nz; z++)
        for (count y = 0; y < ny; y++)
            for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
                const count row = (z * ny + y) * nx;
                real sum = 0;
                ALONG_X_SUM(sum)
                for (count i = row + x0; i < row + x0 + ROW_PART(nx); i++)
                    sum += exponential_of(sample[i]);
                total += (double)sum;
            }
    ONCE
    expsum[0] = (real)total;
}
