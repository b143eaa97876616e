/*
 * Vertical mixing of temperature and salinity, implicit in time, with their surface fluxes: a
 * tridiagonal system for each column of water,
 *
 *     T' = T + dt_tracer d/dz kappaH dT'/dz,     kappaH dT'/dz = forc_temp_surface at the surface,
 *
 * and the same for salinity, which has the same matrix. Nothing goes through the bottom; on land
 * both stay as they are.
 */
#include "directives.h"
#include "span.h"
#include "tridiagonal.h"
#include "variant.h"

#include <stdbool.h>

#define DESCRIPTIONS "mixing/vertical_mixing.kernel"

void VARIANT(vertical_mixing)(const struct kernel_call *call)
{
#include "unpack.h"
    const ptrdiff_t level = ny * nx;
    const ptrdiff_t top = nz - 1;

    SLABS(y0, y1, ny, nx)
    PARALLEL_COLUMNS
    for (count y = y0; y < y1; y++)
        for (count x0 = 0; x0 < (count)nx; x0 += ROW_PART(nx)) {
            const struct span part = {x0, x0 + ROW_PART(nx)};
            const struct span inside = interior(part, y, nx, ny);

            for (ptrdiff_t k = 0; k < nz; k++) {
                const ptrdiff_t below = k > 0 ? level : 0;
                const real through_floor = k > 0 ? dt_tracer / (dzw[k - 1] * dzt[k]) : 0;
                const real through_top = k < top ? dt_tracer / (dzw[k] * dzt[k]) : 0;
                const real from_surface = k == top ? dt_tracer / dzt[k] : 0;
                ALONG_X
                for (ptrdiff_t x = inside.begin; x < inside.end; x++) {
                    const ptrdiff_t i = (k * ny + y) * nx + x, column = y * nx + x;
                    const real is_wet = kbot[column] > 0 && k >= kbot[column] - 1;
                    const real is_wet_below = kbot[column] > 0 && k > kbot[column] - 1;
                    const real a = -is_wet_below * through_floor * kappaH[i - below];
                    const real c = -is_wet * through_top * kappaH[i];
                    const real gained = is_wet * from_surface;
                    const struct tridiagonal_row
                        T = {a, 1 - a - c, c, temp_taup1[i] + gained * forc_temp_surface[column]},
                        S = {a, 1 - a - c, c, salt_taup1[i] + gained * forc_salt_surface[column]};
                    const real c_under = k > 0 ? reduced[i - below] : 0;
                    const struct reduced_row T_under = {c_under, k > 0 ? temp_taup1[i - below] : 0};
                    const struct reduced_row S_under = {c_under, k > 0 ? salt_taup1[i - below] : 0};
                    const struct reduced_row T_reduced = eliminate(T, T_under);
                    const struct reduced_row S_reduced = eliminate(S, S_under);
                    reduced[i] = T_reduced.c;
                    temp_taup1[i] = T_reduced.d;
                    salt_taup1[i] = S_reduced.d;
                }
            }

            for (ptrdiff_t k = top - 1; k >= 0; k--) {
                ALONG_X
                for (ptrdiff_t x = inside.begin; x < inside.end; x++) {
                    const ptrdiff_t i = (k * ny + y) * nx + x;
                    const struct reduced_row T = {reduced[i], temp_taup1[i]};
                    const struct reduced_row S = {reduced[i], salt_taup1[i]};
                    temp_taup1[i] = substitute(T, temp_taup1[i + level]);
                    salt_taup1[i] = substitute(S, salt_taup1[i + level]);
                }
            }
        }
}
