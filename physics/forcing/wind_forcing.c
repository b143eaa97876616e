/*
 * The turbulence that wind makes at the surface: the cube of its friction velocity,
 *
 *     forc_tke_surface = (|tau| / rho_0)^(3/2),
 *
 * where tau is the mean of the stresses on both faces of a cell; 0 on land.
 */
#include "directives.h"
#include "maths.h"
#include "span.h"
#include "variant.h"

#define DESCRIPTION "forcing/wind_forcing.kernel"
#include "constants.h"

void VARIANT(wind_forcing)(const struct kernel_call *call)
{
#include "unpack.h"
    const count surface = (nz - 1) * ny * nx;

    PARALLEL_COLUMNS
    for (count y = 0; y < ny; y++)
        for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
            const count row = y * nx;
            const struct span part = {x0, x0 + ROW_PART(nx)};
            const struct span inside = interior(part, y, nx, ny);
            zero_outside(forc_tke_surface + row, part, inside);
            ALONG_X
            for (count x = inside.begin; x < inside.end; x++) {
                const real east = surface_taux[row + x], west = surface_taux[row + x - 1];
                const real north = surface_tauy[row + x], south = surface_tauy[row - nx + x];
                const real in_x = (east + west) / (2 * RHO_0);
                const real in_y = (north + south) / (2 * RHO_0);
                const real speed = square_root(square_root(in_x * in_x + in_y * in_y));
                forc_tke_surface[row + x] = maskT[surface + row + x] * (speed * speed * speed);
            }
        }
}
