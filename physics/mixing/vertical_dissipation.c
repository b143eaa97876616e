/*
 * The dissipation of dynamic enthalpy by vertical mixing: the part that a linear equation of state
 * has, which is work against the stratification, and the rest,
 *
 *     P_diss_v      = kappaH Nsqr,
 *     P_diss_nonlin = g / rho_0 kappaH (dX_T/dz dT/dz + dX_S/dz dS/dz) - P_diss_v,
 *
 * where X_T and X_S are int_drhodT and int_drhodS. At the surface P_diss_v is what the fluxes of
 * heat and salt take there, and P_diss_nonlin is 0. If enable_conserve_energy is not set,
 * P_diss_nonlin is 0 everywhere, and at the surface P_diss_v is what the flux of density takes.
 *
 * Temperature, salinity, X and Nsqr are those after the mixing; kappaH is from before it.
 */
#define DESCRIPTION "mixing/vertical_dissipation.kernel"
#include "arguments.h"
#include "eos/expansion.h"
#include "span.h"

#include <stdbool.h>

static void VARIANT(below_surface)(const struct kernel_call *call)
{
#include "unpack.h"
    const count level = ny * nx;

    PARALLEL_ROWS
    for (count z = 0; z < nz - 1; z++)
        for (count y = 0; y < ny; y++)
            for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
                const count row = (z * ny + y) * nx;
                const struct span part = {x0, x0 + ROW_PART(nx)};
                const struct span inside = interior(part, y, nx, ny);
                const real per_square = (real)(GRAVITY / RHO_0) / (dzw[z] * dzw[z]);
                const real conserves = enable_conserve_energy != 0;
                zero_outside(P_diss_v + row, part, inside);
                zero_outside(P_diss_nonlin + row, part, inside);
                ALONG_X
                for (count x = inside.begin; x < inside.end; x++) {
                    const count i = row + x, j = i + level;
                    const real by_gradients =
                        (int_drhodT[j] - int_drhodT[i]) * (temp_taup1[j] - temp_taup1[i]) +
                        (int_drhodS[j] - int_drhodS[i]) * (salt_taup1[j] - salt_taup1[i]);
                    const real linear = kappaH[i] * Nsqr[i];
                    const real all = maskW[i] * per_square * kappaH[i] * by_gradients;
                    P_diss_v[i] = linear;
                    P_diss_nonlin[i] = conserves * (all - linear);
                }
            }
}

/* The derivatives of density at the surface, by which the fluxes of heat and salt are multiplied.
 * `teos` is a literal. */
INLINED struct expansion density_at_surface(const struct linear_expansion *linear, real salt,
                                            real temp, real depth, bool teos)
{
    if (teos)
        return teos10_expansion(salt, temp, depth);
    return (struct expansion){linear->drdT + linear->drdT_by_depth * depth +
                                  linear->drdT_by_T * (temp - (real)THETA_0),
                              linear->drdS};
}

/* A row of the uppermost level, which begins at `row`, and at `column` in two dimensions.
 * `conserves` and `teos` are literals, so that no loop has a branch. */
INLINED void surface_row(const struct arguments *a, count row, count column, struct span inside,
                         bool conserves, bool teos)
{
    const struct linear_expansion linear = linear_expansion(a->eq_of_state_type);
    const real depth = magnitude(a->zt[a->nz - 1]), per_half = 2 / a->dzw[a->nz - 1];
    ALONG_X
    for (count x = inside.begin; x < inside.end; x++) {
        const count i = row + x;
        const struct expansion by =
            conserves
                ? (struct expansion){per_half * a->int_drhodT[i], per_half * a->int_drhodS[i]}
                : density_at_surface(&linear, a->salt_taup1[i], a->temp_taup1[i], depth, teos);
        a->P_diss_v[i] = (real)(-GRAVITY / RHO_0) * a->maskW[i] *
                         (by.drdT * a->forc_temp_surface[column + x] +
                          by.drdS * a->forc_salt_surface[column + x]);
        a->P_diss_nonlin[i] = 0;
    }
}

static void VARIANT(at_surface)(const struct kernel_call *call)
{
#include "unpack.h"
    const count top = nz - 1;

    PARALLEL_COLUMNS
    for (count y = 0; y < ny; y++)
        for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
            const count column = y * nx, row = (top * ny + y) * nx;
            const struct arguments a = {
#include "gather.h"
            };
            const struct span part = {x0, x0 + ROW_PART(nx)};
            const struct span inside = interior(part, y, nx, ny);
            zero_outside(P_diss_v + row, part, inside);
            zero_outside(P_diss_nonlin + row, part, inside);
            if (enable_conserve_energy)
                surface_row(&a, row, column, inside, true, false);
            else if (eq_of_state_type == 5)
                surface_row(&a, row, column, inside, false, true);
            else
                surface_row(&a, row, column, inside, false, false);
        }
}

void VARIANT(vertical_dissipation)(const struct kernel_call *call)
{
    VARIANT(below_surface)(call);
    VARIANT(at_surface)(call);
}
