/*
 * Sources of temperature and salinity in the water, such as restoring zones and penetrating
 * sunlight: makes a step with them, and finds what they take from dynamic enthalpy, on the W grid.
 */
#define DESCRIPTION "mixing/tempsalt_sources.kernel"
#include "arguments.h"
#include "cell.h"
#include "eos/expansion.h"
#include "span.h"

#include <stdbool.h>

INLINED real loss(const struct arguments *a, count i)
{
    return (real)(-GRAVITY / RHO_0) * a->maskT[i] *
           (a->int_drhodT[i] * a->temp_source[i] + a->int_drhodS[i] * a->salt_source[i]);
}

void VARIANT(tempsalt_sources)(const struct kernel_call *call)
{
#include "unpack.h"
    PARALLEL_ROWS
    for (count z = 0; z < nz; z++)
        for (count y = 0; y < ny; y++)
            for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
                const struct arguments a = {
#include "gather.h"
                };
                const count row = (z * ny + y) * nx;
                const struct span part = {x0, x0 + ROW_PART(nx)};
                const struct span inside = interior(part, y, nx, ny);
                const bool is_top = z == nz - 1;
                const real beneath = is_top ? 0 : dzw[z > 0 ? z - 1 : 0] / dzw[z];
                const real conserves = enable_conserve_energy != 0;
                zero_outside(P_diss_sources + row, part, inside);
                ALONG_X
                for (count x = inside.begin; x < inside.end; x++) {
                    const struct cell c = cell_at(nx, ny, nz, z, y, x);
                    const count i = c.i, lowest = kbot[y * nx + x] - 1;
                    const real wet = lowest >= 0 && z >= lowest;
                    const real is_lowest = z == lowest;
                    const real here = loss(&a, i), above = loss(&a, i + c.above);
                    temp_taup1[i] += dt_tracer * maskT[i] * temp_source[i];
                    salt_taup1[i] += dt_tracer * maskT[i] * salt_source[i];
                    P_diss_sources[i] =
                        conserves * wet * (here + above + is_lowest * beneath * here) / 2;
                }
            }
}
