/*
 * Calibration: the triad of STREAM, a = b + 3 c. It moves three words for two operations: the
 * bandwidth that it reaches is the ceiling of every kernel that is limited by memory.
 */
#include "directives.h"
#include "variant.h"

#define DESCRIPTIONS "calibration/triad.kernel"

void VARIANT(triad)(const struct kernel_call *call)
{
#include "unpack.h"

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
