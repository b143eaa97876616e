/*
 * Isoneutral diffusion of a tracer, from the tensor and slopes that the kernel `isoneutral` stores.
 * First comes the explicit part, by the fluxes of tracer_fluxes.h at time level tau; then the
 * vertical part, K_33, which is implicit in time: a tridiagonal system a column,
 *
 *     tracer_taup1' = tracer_taup1 + dt_tracer (div F + d/dz K_33 d tracer_taup1'/dz);
 *
 * and last the tendency dtracer_skew is added, which the kernel `isoneutral_skew` has made for the
 * same tracer. On land and below the bottom K_33 is 0, so that tracer_taup1 stays as it is.
 */
#define DESCRIPTION "mixing/isoneutral_diffusion.kernel"
#include "span.h"
#include "tracer_fluxes.h"
#include "tridiagonal.h"

void VARIANT(isoneutral_diffusion)(const struct kernel_call *call)
{
#include "unpack.h"
    const count level = ny * nx;
    const count top = nz - 1;

    PARALLEL_COLUMNS
    for (count y = 0; y < ny; y++)
        for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
            const struct arguments arguments = {
#include "gather.h"
            };
            const struct mixing_by diffusion = {K_iso, 1, 1};
            const struct span part = {x0, x0 + ROW_PART(nx)};
            const struct span inside = interior(part, y, nx, ny);

            for (count k = 0; k < nz; k++) {
                const count below = k > 0 ? level : 0;
                const real through_floor = k > 0 ? dt_tracer / (dzw[k - 1] * dzt[k]) : 0;
                const real through_top = k < top ? dt_tracer / (dzw[k] * dzt[k]) : 0;
                ALONG_X
                for (count x = inside.begin; x < inside.end; x++) {
                    const count i = (k * ny + y) * nx + x;
                    const real tendency = maskT[i] * divergence(&arguments, diffusion, tracer,
                                                                cell_at(nx, ny, nz, k, y, x));
                    const real a = -through_floor * K_33[i - below];
                    const real c = -through_top * K_33[i];
                    const struct tridiagonal_row here = {a, 1, c,
                                                         tracer_taup1[i] + dt_tracer * tendency};
                    const struct reduced_row under = {k > 0 ? solution[i - below] : 0,
                                                      k > 0 ? tracer_taup1[i - below] : 0};
                    const struct reduced_row reduced = eliminate(here, under);
                    solution[i] = reduced.ratio;
                    tracer_taup1[i] = reduced.d;
                }
            }

            /* The solution replaces the ratio, because the level below needs it without the skew
             * diffusion. */
            for (count k = top; k >= 0; k--) {
                const count above = k < top ? level : 0;
                ALONG_X
                for (count x = inside.begin; x < inside.end; x++) {
                    const count i = (k * ny + y) * nx + x;
                    const struct reduced_row reduced = {solution[i], tracer_taup1[i]};
                    solution[i] = substitute(reduced, k < top ? solution[i + above] : 0);
                    tracer_taup1[i] = solution[i] + dt_tracer * dtracer_skew[i];
                }
            }
        }
}
