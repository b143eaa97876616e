/*
 * Eddy kinetic energy: one time step of eke on the W grid, as in Veros (Eden and Greatbatch 2008).
 *
 * First nest, columns: vertical mixing and dissipation, implicit in time with step dt_tracer,
 *
 *     eke' = eke + dt_tracer (d/dz alpha_eke kappaM deke'/dz
 *                             - eke_c_eps sqrt(eke) / eke_len eke' + sources),
 *
 * a tridiagonal system a column. The sources are the kinetic energy that the mean flow loses to
 * friction and to eddies, the potential energy that it loses by skew diffusion and, unless that
 * heats the water, what lateral and isoneutral mixing lose. The dissipation goes to internal waves.
 *
 * Second nest, points: what is explicit in time, which is lateral diffusion by K_gm and advection.
 * It reads eke at time level tau only.
 */
#include "directives.h"
#include "maths.h"
#include "span.h"
#include "variant.h"
#include "wgrid_advection.h"
#include "wgrid_mixing.h"

#define DESCRIPTIONS "mixing/eke.kernel"

/* A face's diffusivity is the mean K_gm of its cells, or half of this if that is more. */
#define LEAST_SUM_OF_K ((real)500)

/* The column solve, as in tke.c: the reduced rows are kept in the outputs, their ratios in deke, d'
 * in eke_taup1, and the share that decays in a second in eke_diss_iw. */
static void VARIANT(solve_columns)(const struct kernel_call *call)
{
#include "unpack.h"
    const count level = ny * nx;
    const count top = nz - 1;
    const real is_source = !enable_store_cabbeling_heat;

    PARALLEL_COLUMNS
    for (count y = 0; y < ny; y++)
        for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
            const struct span part = {x0, x0 + ROW_PART(nx)};
            const struct span inside = interior(part, y, nx, ny);
            const count row = y * nx;

            for (count k = 0; k < nz; k++) {
                const count below = k > 0 ? level : 0;
                const count above = k < top ? level : 0;
                const struct w_exchange m = w_exchange_at(dzt, dzw, k, top, dt_tracer * alpha_eke);
                ALONG_X
                for (count x = inside.begin; x < inside.end; x++) {
                    const count i = k * level + row + x;
                    const count ks = kbot[row + x] - 1;
                    const bool wet = ks >= 0 && k >= ks;
                    const real sqrteke = square_root(larger(0, eke[i]));
                    const real length = larger(eke_lmin, eke_len[i]);
                    const real decay = maskW[i] * eke_c_eps * sqrteke / length;
                    const real sources = K_diss_gm[i] + K_diss_h[i] - P_diss_skew[i] -
                                         is_source * (P_diss_hmix[i] + P_diss_iso[i]);
                    const struct tridiagonal_row here =
                        w_mixing_row(m, kappaM, i, below, above, wet, k <= ks, dt_tracer * decay,
                                     eke[i] + dt_tracer * sources, eke_taup1[i]);
                    const struct reduced_row under = {k > 0 ? deke[i - below] : 0,
                                                      k > 0 ? eke_taup1[i - below] : 0};
                    const struct reduced_row reduced = eliminate(here, under);
                    deke[i] = reduced.ratio;
                    eke_taup1[i] = reduced.d;
                    eke_diss_iw[i] = wet ? decay : 0;
                }
            }

            for (count k = top; k >= 0; k--) {
                const count above = k < top ? level : 0;
                zero_outside(eke_diss_iw + k * level + row, part, inside);
                ALONG_X
                for (count x = inside.begin; x < inside.end; x++) {
                    const count i = k * level + row + x;
                    const struct reduced_row reduced = {deke[i], eke_taup1[i]};
                    const real solved = substitute(reduced, eke_taup1[i + above]);
                    eke_taup1[i] = solved;
                    eke_diss_iw[i] *= solved;
                }
            }
        }
}

/* The diffusivity of the face between cell i and the one at distance `next`. */
INLINED real K_of_face(const real *K_gm, count i, count next)
{
    return larger(LEAST_SUM_OF_K, K_gm[i] + K_gm[i + next]) / 2;
}

/* Lateral diffusion, advection and the Adams-Bashforth step, on top of the solution of the
 * columns. */
static void VARIANT(advect_and_diffuse)(const struct kernel_call *call)
{
#include "unpack.h"
    const real advects = enable_eke_superbee_advection || enable_eke_upwind_advection;

    PARALLEL_ROWS
    for (count k = 0; k < nz; k++)
        for (count y = 0; y < ny; y++)
            for (count x0 = 0; x0 < nx; x0 += ROW_CHUNK) {
                const struct span part = chunk(x0, nx);
                const struct span inside = interior(part, y, nx, ny);
                const count row = (k * ny + y) * nx;
                zero_outside(deke + row, part, inside);
                zero_outside(eke_taup1 + row, part, inside);
                if (inside.begin == inside.end)
                    continue;

                const struct w_row r =
                    w_row_at(nx, ny * nx, k, nz - 1, y, u, v, w, dxt, dyt, dzw, cost, cosu,
                             dt_tracer, !enable_eke_upwind_advection);
                const real north_per_dy = r.velfac / dyu[y];
                const real south_per_dy = r.velfac_south / dyu[y - 1];
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
                    const real here = eke[i];
                    const real rise_east = (eke[i + 1] - here) / (r.cosine * dxu[x]);
                    const real rise_west = (here - eke[i - 1]) / (r.cosine * dxu[x - 1]);
                    const real rise_north = (eke[i + nx] - here) * north_per_dy;
                    const real rise_south = (here - eke[i - nx]) * south_per_dy;
                    const real flux_east =
                        value_if(faces & EAST, K_of_face(K_gm, i, 1) * rise_east);
                    const real flux_west =
                        value_if(faces & WEST, K_of_face(K_gm, i, -1) * rise_west);
                    const real flux_north =
                        value_if(faces & NORTH, K_of_face(K_gm, i, nx) * rise_north);
                    const real flux_south =
                        value_if(faces & SOUTH, K_of_face(K_gm, i, -nx) * rise_south);
                    const real diffusion = (flux_east - flux_west) / (r.cosine * dxt[x]) +
                                           (flux_north - flux_south) * r.per_dy;

                    const real tendency = w_tendency(&r, eke, x, i, faces);
                    deke[i] = advects * tendency;
                    eke_taup1[i] += dt_tracer * value_if(faces & WATER, diffusion) +
                                    dt_now * tendency - dt_before * deke_taum1[i];
                }
            }
}

void VARIANT(eke)(const struct kernel_call *call)
{
    VARIANT(solve_columns)(call);
    VARIANT(advect_and_diffuse)(call);
}
