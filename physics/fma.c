/*
 * Calibration: fused multiply-adds in chains that do not wait for each other, all in registers.
 * What it reaches is the ceiling of any kernel that arithmetic limits.
 */
#include "directives.h"
#include "variant.h"

enum { CHAINS = 8, LINKS = 32 };

/* A chain is a polynomial of s by Horner's rule, of which all coefficients but the first are
 * equal. Eight of them hide the latency of the units of a processor: 4 cycles, two a cycle. */
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

void VARIANT(fma)(const struct physics_call *call)
{
    const ptrdiff_t nx = (ptrdiff_t)call->grid.nx;
    const ptrdiff_t ny = (ptrdiff_t)call->grid.ny;
    const ptrdiff_t nz = (ptrdiff_t)call->grid.nz;
    const real *const sample = call->input[PHYSICS_SAMPLE];
    real *const result = call->output[PHYSICS_FMA];

    PARALLEL_ROWS
    for (ptrdiff_t z = 0; z < nz; z++)
        for (ptrdiff_t y = 0; y < ny; y++)
            for (ptrdiff_t part = 0; part < nx; part += ROW_PART(nx)) {
                const ptrdiff_t row = (z * ny + y) * nx;
                ALONG_X
                for (ptrdiff_t i = row + part; i < row + part + ROW_PART(nx); i++)
                    result[i] = chains(sample[i]);
            }
}
