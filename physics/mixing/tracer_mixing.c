/*
 * Vertical mixing of a tracer, with its flux through the surface, as `vertical_mixing` does for
 * temperature and salinity. vertical_mixing.h has the system.
 */
#define DESCRIPTION "mixing/tracer_mixing.kernel"
#include "vertical_mixing.h"

void VARIANT(tracer_mixing)(const struct kernel_call *call)
{
#include "unpack.h"
    PARALLEL_COLUMNS
    for (count y = 0; y < ny; y++)
        for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
            const struct arguments a = {
#include "gather.h"
            };
            const struct mixed tracer = {tracer_taup1, forc_tracer_surface};
            const struct span part = {x0, x0 + ROW_PART(nx)};
            mix_columns(&a, tracer, tracer, false, y, interior(part, y, nx, ny));
        }
}
