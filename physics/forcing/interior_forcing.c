/*
 * Sources of temperature and salinity in the water, for tempsalt_sources: sunlight, of which each
 * level absorbs a share, but none under ice (as in surface_forcing, after which it runs); and
 * restoring to a given state,
 *
 *     temp_source = q_solar divpen_shortwave + rest_tscl (temp_star - temp),
 *
 * and likewise for salinity, without sunlight. Veros's setups global_1deg and north_atlantic do
 * the same.
 */
#include "directives.h"
#include "span.h"
#include "variant.h"

#include <stdbool.h>

#define DESCRIPTION "forcing/interior_forcing.kernel"

void VARIANT(interior_forcing)(const struct kernel_call *call)
{
#include "unpack.h"
    PARALLEL_ROWS
    for (count z = 0; z < nz; z++)
        for (count y = 0; y < ny; y++)
            for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
                const struct span part = {x0, x0 + ROW_PART(nx)};
                const struct span inside = interior(part, y, nx, ny);
                const count row = (z * ny + y) * nx;
                zero_outside(temp_source + row, part, inside);
                zero_outside(salt_source + row, part, inside);
                ALONG_X
                for (count x = inside.begin; x < inside.end; x++) {
                    const count column = y * nx + x, i = row + x;
                    const count top = (nz - 1) * ny * nx + column;
                    const bool is_ice =
                        (maskT[top] * temp[top] <= t_ice) & (forc_temp_surface[column] <= 0);
                    const real sunlight = q_solar[column] * divpen_shortwave[z];
                    const real light = is_ice ? 0 : sunlight;
                    temp_source[i] = maskT[i] * (light + rest_tscl[i] * (temp_star[i] - temp[i]));
                    salt_source[i] = maskT[i] * rest_tscl[i] * (salt_star[i] - salt[i]);
                }
            }
}
