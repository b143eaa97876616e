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

    SLABS(z0, z1, nz, ny * nx)
    SLABS(y0, y1, ny, nx)
    PARALLEL_ROWS
    for (count z = z0; z < z1; z++)
        for (count y = y0; y < y1; y++)
            for (count part = 0; part < (count)nx; part += ROW_PART(nx)) {
                const ptrdiff_t row = (z * ny + y) * nx;
                ALONG_X
                for (ptrdiff_t i = row + part; i < row + part + ROW_PART(nx); i++)
                    a[i] = b[i] + 3 * c[i];
            }
}
