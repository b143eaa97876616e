/*
 * Skew diffusion of a tracer (the advection by eddies of Gent and McWilliams, as Griffies 1998
 * writes it): its tendency, from the slopes that the kernel `isoneutral` stores. tracer_fluxes.h
 * has the fluxes.
 */
#define DESCRIPTION "mixing/isoneutral_skew.kernel"
#include "span.h"
#include "tracer_fluxes.h"

void VARIANT(isoneutral_skew)(const struct kernel_call *call)
{
#include "unpack.h"
    PARALLEL_ROWS
    for (count z = 0; z < nz; z++)
        for (count y = 0; y < ny; y++)
            for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
                const struct arguments a = {
#include "gather.h"
                };
                const struct mixing_by eddies = {K_gm, -1, pyom_compatibility_mode};
                const struct span part = {x0, x0 + ROW_PART(nx)};
                const struct span inside = interior(part, y, nx, ny);
                const count row = (z * ny + y) * nx;
                zero_outside(dtracer_skew + row, part, inside);
                ALONG_X
                for (count x = inside.begin; x < inside.end; x++)
                    dtracer_skew[row + x] =
                        (real)(enable_skew_diffusion * maskT[row + x]) *
                        divergence(&a, eddies, tracer, cell_at(nx, ny, nz, z, y, x));
            }
}
