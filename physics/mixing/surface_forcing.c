/*
 * Fluxes of temperature and salinity through the surface: a given flux, and restoring to a given
 * state,
 *
 *     forc_temp_surface = t_flux + t_rest (t_star - temp),
 *
 * and likewise for salinity. t_flux is a heat flux over rho_0 cp; t_rest is the change of that flux
 * with temperature, or the height of the uppermost cell over a time. Under ice, which is where the
 * water is not warmer than t_ice and would be cooled, neither heat nor salt goes in. Veros's global
 * setups do the same, with -1.8; that of 4 degrees only below it.
 */
#include "directives.h"
#include "variant.h"

#include <stdbool.h>

#define DESCRIPTION "mixing/surface_forcing.kernel"

void VARIANT(surface_forcing)(const struct kernel_call *call)
{
#include "unpack.h"
    const count surface = (nz - 1) * ny * nx;

    PARALLEL_COLUMNS
    for (count y = 0; y < ny; y++)
        for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
            ALONG_X
            for (count x = x0; x < x0 + ROW_PART(nx); x++) {
                const count column = y * nx + x, i = surface + column;
                const real water = maskT[i];
                const real heat =
                    water * (t_flux[column] + t_rest[column] * (t_star[column] - temp[i]));
                const real salinity =
                    water * (s_flux[column] + s_rest[column] * (s_star[column] - salt[i]));
                const bool is_ice = (water * temp[i] <= t_ice) & (heat <= 0);
                forc_temp_surface[column] = is_ice ? 0 : heat;
                forc_salt_surface[column] = is_ice ? 0 : salinity;
            }
        }
}
