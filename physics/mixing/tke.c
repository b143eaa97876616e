/*
 * Turbulent kinetic energy: one time step of tke on the W grid (Gaspar, Gregoris and Lefevre 1990
 * as in Veros).
 *
 * As in Veros, settings switch lateral diffusion, and choose advection by superbee, by the upwind
 * scheme, or none. Without advection dtke is 0, and the tendency of the step before is ignored.
 *
 * First nest, columns: vertical mixing and dissipation, implicit in time with step dt_mom,
 *
 *     tke' = tke + dt_mom (d/dz alpha_tke kappaM dtke'/dz - c_eps sqrt(tke) / mxl tke' + forc),
 *
 * a tridiagonal system a column. Second nest, points: what is explicit in time, which is lateral
 * diffusion with step dt_mom and advection with step dt_tracer. It reads tke at time level tau
 * only, so it depends neither on its own order nor on the first nest's solution, to which it adds.
 *
 * A W cell reaches from one T point to the next; the one at the surface is half a cell.
 */
#include "directives.h"
#include "maths.h"
#include "span.h"
#include "variant.h"
#include "wgrid_advection.h"
#include "wgrid_mixing.h"

#define DESCRIPTIONS "mixing/tke.kernel"

/*
 * The column solve. A whole row of columns advances level by level on the host, one column a thread
 * on a GPU. The reduced rows are kept in the outputs: their ratios in dtke, d' in tke_taup1, and
 * the share that decays in a step in tke_diss. Below the bottom and on land tke_taup1 keeps what it
 * held.
 */
static void VARIANT(solve_columns)(const struct kernel_call *call)
{
#include "unpack.h"
    const real dt_tke = dt_mom;
    const real per_dt = 1 / dt_tke;
    const count level = ny * nx;
    const count top = nz - 1;

    PARALLEL_COLUMNS
    for (count y = 0; y < ny; y++)
        for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
            const struct span part = {x0, x0 + ROW_PART(nx)};
            const struct span inside = interior(part, y, nx, ny);
            const count row = y * nx;

            for (count k = 0; k < nz; k++) {
                const count below = k > 0 ? level : 0;
                const count above = k < top ? level : 0;
                const struct w_exchange m = w_exchange_at(dzt, dzw, k, top, dt_tke * alpha_tke);
                const real surface = k < top ? 0 : dt_tke / m.height;
                ALONG_X
                for (count x = inside.begin; x < inside.end; x++) {
                    const count i = k * level + row + x;
                    const count ks = kbot[row + x] - 1;
                    const bool wet = ks >= 0 && k >= ks;
                    const real sqrttke = square_root(larger(0, tke[i]));
                    const real decay = dt_tke * c_eps * sqrttke / mxl[i];
                    const real d = tke[i] + dt_tke * forc[i] + surface * forc_tke_surface[row + x];
                    const struct tridiagonal_row here = w_mixing_row(
                        m, kappaM, i, below, above, wet, k <= ks, decay, d, tke_taup1[i]);
                    const struct reduced_row under = {k > 0 ? dtke[i - below] : 0,
                                                      k > 0 ? tke_taup1[i - below] : 0};
                    const struct reduced_row reduced = eliminate(here, under);
                    dtke[i] = reduced.ratio;
                    tke_taup1[i] = reduced.d;
                    tke_diss[i] = wet ? decay : 0;
                }
            }

            for (count k = top; k >= 0; k--) {
                const count above = k < top ? level : 0;
                zero_outside(tke_diss + k * level + row, part, inside);
                ALONG_X
                for (count x = inside.begin; x < inside.end; x++) {
                    const count i = k * level + row + x;
                    const struct reduced_row reduced = {dtke[i], tke_taup1[i]};
                    const real solved = substitute(reduced, tke_taup1[i + above]);
                    tke_taup1[i] = solved;
                    tke_diss[i] *= per_dt * solved;
                }
            }

            /* If the flux through the surface drains more than there is, the excess is put back
             * and accounted for. */
            zero_outside(tke_surf_corr + row, part, inside);
            ALONG_X
            for (count x = inside.begin; x < inside.end; x++) {
                real *const surface = &tke_taup1[top * level + row + x];
                tke_surf_corr[row + x] = larger(0, -*surface) * (dzw[top] / 2 / dt_tke);
                *surface = larger(0, *surface);
            }
        }
}

/* Lateral diffusion, advection and the Adams-Bashforth step, on top of the solution of the
 * columns. */
static void VARIANT(advect_and_diffuse)(const struct kernel_call *call)
{
#include "unpack.h"
    const real advects = enable_tke_superbee_advection || enable_tke_upwind_advection;

    PARALLEL_ROWS
    for (count k = 0; k < nz; k++)
        for (count y = 0; y < ny; y++)
            for (count x0 = 0; x0 < nx; x0 += ROW_CHUNK) {
                const struct span part = chunk(x0, nx);
                const struct span inside = interior(part, y, nx, ny);
                const count row = (k * ny + y) * nx;
                zero_outside(dtke + row, part, inside);
                zero_outside(tke_taup1 + row, part, inside);
                if (inside.begin == inside.end)
                    continue;

                const struct w_row r =
                    w_row_at(nx, ny * nx, k, nz - 1, y, u, v, w, dxt, dyt, dzw, cost, cosu,
                             dt_tracer, !enable_tke_upwind_advection);
                const real K_h = enable_tke_hor_diffusion ? K_h_tke : 0;
                const real K_north = K_h * r.velfac / dyu[y];
                const real K_south = K_h * r.velfac_south / dyu[y - 1];
                const real dt_now = advects * dt_tracer * ((real)1.5 + AB_eps);
                const real dt_before = advects * dt_tracer * ((real)0.5 + AB_eps);

                int32_t open[ROW_CHUNK];
                ALONG_X
                for (count x = inside.begin; x < inside.end; x++)
                    open[x - x0] = open_faces(&r, row + x, maskU, maskV, maskW);
                ALONG_X
                for (count x = inside.begin; x < inside.end; x++) {
                    const count i = row + x;
                    const int32_t faces = open[x - x0];
                    const real here = tke[i];
                    const real east = tke[i + 1], west = tke[i - 1];
                    const real north = tke[i + nx], south = tke[i - nx];
                    const real per_dx = 1 / (r.cosine * dxt[x]);

                    const real flux_east =
                        value_if(faces & EAST, K_h * (east - here) / (r.cosine * dxu[x]));
                    const real flux_west =
                        value_if(faces & WEST, K_h * (here - west) / (r.cosine * dxu[x - 1]));
                    const real flux_north = value_if(faces & NORTH, K_north * (north - here));
                    const real flux_south = value_if(faces & SOUTH, K_south * (here - south));
                    const real diffusion =
                        (flux_east - flux_west) * per_dx + (flux_north - flux_south) * r.per_dy;

                    const real tendency = w_tendency(&r, tke, x, i, faces);
                    dtke[i] = advects * tendency;
                    tke_taup1[i] += dt_mom * value_if(faces & WATER, diffusion) +
                                    dt_now * tendency - dt_before * dtke_taum1[i];
                }
            }
}

void VARIANT(tke)(const struct kernel_call *call)
{
    VARIANT(solve_columns)(call);
    VARIANT(advect_and_diffuse)(call);
}
