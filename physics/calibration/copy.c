/*
 * Calibration: the copy of STREAM, a = b. Half of what it moves are stores, where those are a third
 * of what triad moves: a machine that fetches a line before it is written, or that counts each byte
 * written twice, shows it in the ratio of the two.
 */
#include "directives.h"
#include "variant.h"

#define DESCRIPTION "calibration/copy.kernel"

void VARIANT(copy)(const struct kernel_call *call)
{
#include "unpack.h"

    PARALLEL_ROWS
    for (count z = 0; z < nz; z++)
        for (count y = 0; y < ny; y++)
            for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
                const count row = (z * ny + y) * nx;
                ALONG_X
                for (count i = row + x0; i < row + x0 + ROW_PART(nx); i++)
                    a[i] = b[i];
            }
}
