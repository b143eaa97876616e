/*
 * Vertical mixing without turbulent kinetic energy: constants, but for unstable water, which is
 * mixed by 1 m2/s, as in Veros.
 */
#define DESCRIPTION "mixing/convective_adjustment.kernel"
#include "directives.h"
#include "variant.h"

void VARIANT(convective_adjustment)(const struct kernel_call *call)
{
#include "unpack.h"
    PARALLEL_ROWS
    for (count z = 0; z < nz; z++)
        for (count y = 0; y < ny; y++)
            for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
                const count row = (z * ny + y) * nx;
                ALONG_X
                for (count x = x0; x < x0 + ROW_PART(nx); x++) {
                    kappaM[row + x] = kappaM_0;
                    kappaH[row + x] = Nsqr[row + x] < 0 ? 1 : kappaH_0;
                }
            }
}
