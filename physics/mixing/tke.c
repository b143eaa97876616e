/*
 * Turbulent kinetic energy: one time step of tke on the W grid (Gaspar, Gregoris and Lefevre 1990
 * as in Veros).
 *
 * What Veros can switch is switched here: lateral diffusion, and superbee or upwind advection or
 * none. With none dtke is 0 and the tendency of the step before does not count.
 *
 * First nest, columns: vertical mixing and dissipation, implicit in time with step dt_mom,
 *
 *     tke' = tke + dt_mom (d/dz alpha_tke kappaM dtke'/dz - c_eps sqrt(tke) / mxl tke' + forc),
 *
 * a tridiagonal system a column. Second nest, points: what is explicit in time, the lateral
 * diffusion with step dt_mom and the advection with step dt_tracer. It reads no tke but
 * that of time level tau, so neither its order nor the first nest matters to it.
 *
 * A W cell reaches from one T point to the next; the one at the surface is a half.
 */
#include "directives.h"
#include "maths.h"
#include "span.h"
#include "superbee.h"
#include "tridiagonal.h"
#include "variant.h"

#include <stdint.h>

#define DESCRIPTIONS "mixing/tke.kernel"

/*
 * The column solve. A whole row of columns advances level by level on the host, one column a
 * thread on a GPU. The reduced rows live in the outputs: c' in dtke, d' in tke_taup1, and what
 * decays in a step in tke_diss.
 *
 * delta is what mixing exchanges between two levels, nothing through the bottom and the surface;
 * so the diagonal is 1 less the other two coefficients, and dissipation. Below the bottom and on
 * land the row is x = what tke_taup1 held before.
 */
static void VARIANT(solve_columns)(const struct kernel_call *call)
{
#include "unpack.h"
    const real dt_tke = dt_mom;
    const real per_dt = 1 / dt_tke;
    const ptrdiff_t level = ny * nx;
    const ptrdiff_t top = nz - 1;

    SLABS(y0, y1, ny, nx)
    PARALLEL_COLUMNS
    for (count y = y0; y < y1; y++)
        for (count x0 = 0; x0 < (count)nx; x0 += ROW_PART(nx)) {
            const struct span part = {x0, x0 + ROW_PART(nx)};
            const struct span inside = interior(part, y, nx, ny);
            const ptrdiff_t row = y * nx;

            for (ptrdiff_t k = 0; k < nz; k++) {
                const ptrdiff_t below = k > 0 ? level : 0;
                const ptrdiff_t above = k < top ? level : 0;
                const real height = k < top ? dzw[k] : dzw[k] / 2;
                const real mixing = dt_tke * alpha_tke / (2 * height);
                const real mixing_below = k > 0 ? mixing / dzt[k] : 0;
                const real mixing_above = k < top ? mixing / dzt[k + 1] : 0;
                const real surface = k < top ? 0 : dt_tke / height;
                ALONG_X
                for (ptrdiff_t x = inside.begin; x < inside.end; x++) {
                    const ptrdiff_t i = k * level + row + x;
                    const ptrdiff_t ks = kbot[row + x] - 1;
                    const bool wet = ks >= 0 && k >= ks;
                    const real delta_below = mixing_below * (kappaM[i - below] + kappaM[i]);
                    const real delta_above = mixing_above * (kappaM[i] + kappaM[i + above]);
                    const real sqrttke = square_root(larger(0, tke[i]));
                    const real a = k > ks ? -delta_below : 0;
                    const real c = -delta_above;
                    const real decay = dt_tke * c_eps * sqrttke / mxl[i];
                    const real b = 1 - a - c + decay;
                    const real d = tke[i] + dt_tke * forc[i] + surface * forc_tke_surface[row + x];
                    const struct tridiagonal_row here = {wet ? a : 0, wet ? b : 1, wet ? c : 0,
                                                         wet ? d : tke_taup1[i]};
                    const struct reduced_row under = {k > 0 ? dtke[i - below] : 0,
                                                      k > 0 ? tke_taup1[i - below] : 0};
                    const struct reduced_row reduced = eliminate(here, under);
                    dtke[i] = reduced.c;
                    tke_taup1[i] = reduced.d;
                    tke_diss[i] = wet ? decay : 0;
                }
            }

            for (ptrdiff_t k = top; k >= 0; k--) {
                const ptrdiff_t above = k < top ? level : 0;
                zero_outside(tke_diss + k * level + row, part, inside);
                ALONG_X
                for (ptrdiff_t x = inside.begin; x < inside.end; x++) {
                    const ptrdiff_t i = k * level + row + x;
                    const struct reduced_row reduced = {k < top ? dtke[i] : 0, tke_taup1[i]};
                    const real solved = substitute(reduced, tke_taup1[i + above]);
                    tke_taup1[i] = solved;
                    tke_diss[i] *= per_dt * solved;
                }
            }

            /* If the flux through the surface drains more than there is, the excess is put back
             * and accounted for. */
            zero_outside(tke_surf_corr + row, part, inside);
            ALONG_X
            for (ptrdiff_t x = inside.begin; x < inside.end; x++) {
                real *const surface = &tke_taup1[top * level + row + x];
                tke_surf_corr[row + x] = larger(0, -*surface) * (dzw[top] / 2 / dt_tke);
                *surface = larger(0, *surface);
            }
        }
}

/*
 * Which faces about a cell are open, a bit each: along x, y and z the four that superbee reads,
 * and the four of lateral diffusion. A part's bits are made in a loop of their own, so that the
 * loop over its points reads no bytes: GCC would unroll that one to 64 points, as many as there
 * are bytes in a vector.
 */
enum {
    X_LINE = 0,
    Y_LINE = 4,
    Z_LINE = 8,
    EAST = 1 << 12,
    WEST = 1 << 13,
    NORTH = 1 << 14,
    SOUTH = 1 << 15,
    WATER = 1 << 16, /* the cell itself */
};

/* The open faces of a line, whose cells lie at these distances in memory: a face is open if both
 * its cells are water. */
INLINED int32_t open_line(const uint8_t *water, ptrdiff_t low2, ptrdiff_t low, ptrdiff_t high,
                          ptrdiff_t high2)
{
    return (water[-low2] & water[-low]) | (water[-low] & water[0]) << 1 |
           (water[0] & water[high]) << 2 | (water[high] & water[high2]) << 3;
}

/* The value, or 0 where the bit is not set. */
INLINED real value_if(int32_t bit, real value)
{
    return bit ? value : 0;
}

/* The differences of tke across the faces of a line; j is the face above the cell. */
struct differences {
    real jm2, jm1, j, jp1;
};

INLINED struct differences differences(const real *tke, int32_t open, ptrdiff_t low2, ptrdiff_t low,
                                       ptrdiff_t high, ptrdiff_t high2)
{
    return (struct differences){
        .jm2 = value_if(open & 1, tke[-low] - tke[-low2]),
        .jm1 = value_if(open & 2, tke[0] - tke[-low]),
        .j = value_if(open & 4, tke[high] - tke[0]),
        .jp1 = value_if(open & 8, tke[high2] - tke[high]),
    };
}

/* Lateral diffusion, advection and the Adams-Bashforth step, on top of the solution of the
 * columns. The cells on both sides of a face each compute its flux: no array stores it. */
static void VARIANT(advect_and_diffuse)(const struct kernel_call *call)
{
#include "unpack.h"
    const ptrdiff_t level = ny * nx;
    const ptrdiff_t top = nz - 1;
    const real advects = enable_tke_superbee_advection || enable_tke_upwind_advection;
    const real is_limited = !enable_tke_upwind_advection;

    SLABS(k0, k1, nz, ny * nx)
    SLABS(y0, y1, ny, nx)
    PARALLEL_ROWS
    for (count k = k0; k < k1; k++)
        for (count y = y0; y < y1; y++)
            for (count x0 = 0; x0 < (count)nx; x0 += ROW_CHUNK) {
                const struct span part = {x0, x0 + ROW_CHUNK < nx ? x0 + ROW_CHUNK : nx};
                const struct span inside = interior(part, y, nx, ny);
                const ptrdiff_t row = (k * ny + y) * nx;
                zero_outside(dtke + row, part, inside);
                zero_outside(tke_taup1 + row, part, inside);
                if (inside.begin == inside.end)
                    continue;

                /* A level that does not exist is taken to be the nearest one, so there is no
                 * flux. */
                const ptrdiff_t down = (k > 0) * level;
                const ptrdiff_t down2 = down + (k > 1) * level;
                const ptrdiff_t up = (k < top) * level;
                const ptrdiff_t up2 = up + (k < top - 1) * level;
                const real height = k < top ? dzw[k] : dzw[k] / 2;
                const real per_height_below = k > 0 ? 1 / height : 0;
                const real per_height_above = k < top ? 1 / height : 0;
                const real share = is_limited;
                const real dt_limited = share * dt_tracer;
                const real dt_dz_below = dt_limited / dzw[k - (k > 0)];
                const real dt_dz_above = dt_limited / dzw[k];
                const real cosine = cost[y];
                const real velfac = cosu[y], velfac_south = cosu[y - 1];
                const real per_dy = 1 / (cosine * dyt[y]);
                const real per_dy_south = 1 / (cost[y - 1] * dyt[y - 1]);
                const real K_h = enable_tke_hor_diffusion ? K_h_tke : 0;
                const real K_north = K_h * velfac / dyu[y];
                const real K_south = K_h * velfac_south / dyu[y - 1];
                const real dt_now = advects * dt_tracer * ((real)1.5 + AB_eps);
                const real dt_before = advects * dt_tracer * ((real)0.5 + AB_eps);

                int32_t open[ROW_CHUNK];
                ALONG_X
                for (ptrdiff_t x = inside.begin; x < inside.end; x++) {
                    const ptrdiff_t i = row + x;
                    const uint8_t *const water = maskW + i;
                    open[x - x0] = open_line(water, 2, 1, 1, 2) << X_LINE |
                                   open_line(water, 2 * nx, nx, nx, 2 * nx) << Y_LINE |
                                   open_line(water, down2, down, up, up2) << Z_LINE |
                                   maskU[i] * EAST | maskU[i - 1] * WEST | maskV[i] * NORTH |
                                   maskV[i - nx] * SOUTH | water[0] * WATER;
                }
                ALONG_X
                for (ptrdiff_t x = inside.begin; x < inside.end; x++) {
                    const ptrdiff_t i = row + x;
                    const int32_t faces = open[x - x0];
                    const real here = tke[i];
                    const real east = tke[i + 1], west = tke[i - 1];
                    const real north = tke[i + nx], south = tke[i - nx];
                    const real above = tke[i + up], below = tke[i - down];
                    const real per_dx = 1 / (cosine * dxt[x]);
                    const real per_dx_west = 1 / (cosine * dxt[x - 1]);

                    const real flux_east =
                        value_if(faces & EAST, K_h * (east - here) / (cosine * dxu[x]));
                    const real flux_west =
                        value_if(faces & WEST, K_h * (here - west) / (cosine * dxu[x - 1]));
                    const real flux_north = value_if(faces & NORTH, K_north * (north - here));
                    const real flux_south = value_if(faces & SOUTH, K_south * (here - south));
                    const real diffusion =
                        (flux_east - flux_west) * per_dx + (flux_north - flux_south) * per_dy;

                    const struct differences rx = differences(tke + i, faces >> X_LINE, 2, 1, 1, 2);
                    const struct differences ry =
                        differences(tke + i, faces >> Y_LINE, 2 * nx, nx, nx, 2 * nx);
                    const struct differences rz =
                        differences(tke + i, faces >> Z_LINE, down2, down, up, up2);
                    const real adv_fe = adv_flux(u[i], east + here, rx.jm1, rx.j, rx.jp1,
                                                 dt_limited * per_dx, share);
                    const real adv_fw = adv_flux(u[i - 1], here + west, rx.jm2, rx.jm1, rx.j,
                                                 dt_limited * per_dx_west, share);
                    const real adv_fn = adv_flux(velfac * v[i], north + here, ry.jm1, ry.j, ry.jp1,
                                                 dt_limited * per_dy, share);
                    const real adv_fs = adv_flux(velfac_south * v[i - nx], here + south, ry.jm2,
                                                 ry.jm1, ry.j, dt_limited * per_dy_south, share);
                    const real adv_ft =
                        adv_flux(w[i], above + here, rz.jm1, rz.j, rz.jp1, dt_dz_above, share);
                    const real adv_fb = adv_flux(w[i - down], here + below, rz.jm2, rz.jm1, rz.j,
                                                 dt_dz_below, share);

                    const real lateral = value_if(faces & WATER, (adv_fw - adv_fe) * per_dx +
                                                                     (adv_fs - adv_fn) * per_dy);
                    const real tendency =
                        lateral + adv_fb * per_height_below - adv_ft * per_height_above;
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
