/*
 * Calibration: the triad of STREAM, a = b + 3 c. It moves three words for two operations: the
 * bandwidth that it reaches is the ceiling of every kernel that is limited by memory.
 */
#include "directives.h"
#include "variant.h"

#define DESCRIPTION "calibration/triad.kernel"

void VARIANT(triad)(const struct kernel_call *call)
{
#include "unpack.h"

    PARALLEL_ROWS
    for (count z = 0; z < nz; z++)
        for (count y = 0; y < ny; y++)
            for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
                const count row = (z * ny + y) * nx;
                ALONG_X
                for (count i = row + x0; i < row + x0 + ROW_PART(nx); i++)
                    a[i] = b[i] + 3 * c[i];
            }
}
