/*
 * Calibration: the sum of exp(x^2 + 2 x), by OpenMP's reduction. In what order threads add their
 * parts is the runtime's affair, so the last bits may differ with the number of threads, and from
 * run to run with more than two. The sum of rows is kept in double in each precision: a float would
 * lose digits with the number of points.
 */
#include "directives.h"
#include "power.h"

/* exp(x^2 + 2 x) */
INLINED real exponential_of(real x)
{
    const real log2_e = (real)1.4426950408889634074;
    return power_of_2(log2_e * (x * (x + 2)));
}

void VARIANT(expsum)(const struct physics_call *call)
{
    const ptrdiff_t nx = (ptrdiff_t)call->grid.nx;
    const ptrdiff_t ny = (ptrdiff_t)call->grid.ny;
    const ptrdiff_t nz = (ptrdiff_t)call->grid.nz;
    const real *const sample = call->input[PHYSICS_SAMPLE];
    real *const expsum = call->output[PHYSICS_EXPSUM];
    double total = 0;

    PARALLEL_ROWS_SUM(total)
    for (ptrdiff_t z = 0; z < nz; z++)
        for (ptrdiff_t y = 0; y < ny; y++)
            for (ptrdiff_t part = 0; part < nx; part += ROW_PART(nx)) {
                const ptrdiff_t row = (z * ny + y) * nx;
                real sum = 0;
                ALONG_X_SUM(sum)
                for (ptrdiff_t i = row + part; i < row + part + ROW_PART(nx); i++)
                    sum += exponential_of(sample[i]);
                total += (double)sum;
            }
    ONCE
    expsum[0] = (real)total;
}
