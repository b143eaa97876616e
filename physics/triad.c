/*
 * Calibration: the triad of STREAM, a = b + 3 c. It moves three words for two operations: what it
 * reaches is the ceiling of any kernel that memory limits.
 */
#include "directives.h"
#include "variant.h"

void VARIANT(triad)(const struct physics_call *call)
{
    const ptrdiff_t nx = (ptrdiff_t)call->grid.nx;
    const ptrdiff_t ny = (ptrdiff_t)call->grid.ny;
    const ptrdiff_t nz = (ptrdiff_t)call->grid.nz;
    const real *const b = call->input[PHYSICS_SALT];
    const real *const c = call->input[PHYSICS_TEMP];
    real *const a = call->output[PHYSICS_TRIAD];

    PARALLEL_ROWS
    for (ptrdiff_t z = 0; z < nz; z++)
        for (ptrdiff_t y = 0; y < ny; y++)
            for (ptrdiff_t part = 0; part < nx; part += ROW_PART(nx)) {
                const ptrdiff_t row = (z * ny + y) * nx;
                ALONG_X
                for (ptrdiff_t i = row + part; i < row + part + ROW_PART(nx); i++)
                    a[i] = b[i] + 3 * c[i];
            }
}
