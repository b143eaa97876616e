/*
 * Advection of a tracer and its Adams-Bashforth step,
 *
 *     dtracer      = -div(velocity tracer),
 *     tracer_taup1 = tracer + dt_tracer ((1.5 + AB_eps) dtracer - (0.5 + AB_eps) dtracer_taum1),
 *
 * where dtracer_taum1 is the tendency of the same tracer in the step before. On land and in ghosts
 * the tracer stays as it is.
 */
#define DESCRIPTION "mixing/tracer_advection.kernel"
#include "tracer_advection.h"
#include "span.h"

/* A row of cells. `is_limited` is a literal, so that each scheme has a loop of its own. */
INLINED void advect_row(const struct arguments *arguments, count z, count y, struct span inside,
                        bool is_limited)
{
    const struct arguments a = *arguments;
    const real dt_now = a.dt_tracer * ((real)1.5 + a.AB_eps);
    const real dt_before = a.dt_tracer * ((real)0.5 + a.AB_eps);
    if (inside.begin == inside.end)
        return;
    const struct advection_row r = advection_row(&a, z, y);
    ALONG_X
    for (count x = inside.begin; x < inside.end; x++) {
        const struct cell c = cell_at(a.nx, a.ny, a.nz, z, y, x);
        const real tendency = advective_tendency(&a, &r, a.tracer, c, is_limited);
        a.dtracer[c.i] = tendency;
        a.tracer_taup1[c.i] =
            a.tracer[c.i] + a.maskT[c.i] * (dt_now * tendency - dt_before * a.dtracer_taum1[c.i]);
    }
}

void VARIANT(tracer_advection)(const struct kernel_call *call)
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
                zero_outside(dtracer + row, part, inside);
                for (count x = part.begin; x < inside.begin; x++)
                    tracer_taup1[row + x] = tracer[row + x];
                for (count x = inside.end; x < part.end; x++)
                    tracer_taup1[row + x] = tracer[row + x];
                if (enable_superbee_advection)
                    advect_row(&a, z, y, inside, true);
                else
                    advect_row(&a, z, y, inside, false);
            }
}
