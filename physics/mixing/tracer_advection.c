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
INLINED void tendency_row(const struct arguments *a, count z, count y, struct span inside,
                          bool is_limited)
{
    if (inside.begin == inside.end)
        return;
    const struct advection_row r = advection_row(a, z, y);
    ALONG_X
    for (count x = inside.begin; x < inside.end; x++) {
        const struct cell c = cell_at(a->nx, a->ny, a->nz, z, y, x);
        a->dtracer[c.i] = advective_tendency(a, &r, a->tracer, c, is_limited);
    }
}

void VARIANT(tracer_advection)(const struct kernel_call *call)
{
#include "unpack.h"
    const real dt_now = dt_tracer * ((real)1.5 + AB_eps);
    const real dt_before = dt_tracer * ((real)0.5 + AB_eps);

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
                if (enable_superbee_advection)
                    tendency_row(&a, z, y, inside, true);
                else
                    tendency_row(&a, z, y, inside, false);
                for (count x = part.begin; x < inside.begin; x++)
                    tracer_taup1[row + x] = tracer[row + x];
                for (count x = inside.end; x < part.end; x++)
                    tracer_taup1[row + x] = tracer[row + x];
                ALONG_X
                for (count x = inside.begin; x < inside.end; x++) {
                    const count i = row + x;
                    tracer_taup1[i] =
                        tracer[i] + maskT[i] * (dt_now * dtracer[i] - dt_before * dtracer_taum1[i]);
                }
            }
}
