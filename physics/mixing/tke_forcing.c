/*
 * The sum of the sources of turbulent kinetic energy, as in Veros's integrate_tke: vertical
 * friction, mixing against the stratification, advection; the dissipation by eddies, if they have
 * an energy of their own, or else lateral friction and the mean flow's loss to eddies; and friction
 * at the bottom. If internal waves have an energy of their own, too, the last three go there, and
 * the waves' dissipation comes in their place; a setting keeps friction at the bottom here.
 *
 * Veros subtracts P_diss_hmix and P_diss_iso if enable_store_cabbeling_heat is set, and leaves them
 * out if not; in eddy kinetic energy it does the opposite. So do these kernels.
 */
#include "directives.h"
#include "span.h"
#include "variant.h"

#define DESCRIPTION "mixing/tke_forcing.kernel"

/* The array or, where it counts 0, one that is read anyway. */
static const real *unless_zero(real factor, const real *array, const real *read)
{
    return factor != 0 ? array : read;
}

void VARIANT(tke_forcing)(const struct kernel_call *call)
{
#include "unpack.h"
    const real nonlinear = !enable_store_cabbeling_heat;
    const real eddies = enable_eke;
    const real to_waves = enable_idemix;
    const real mean_flow = !enable_eke && !enable_idemix;
    const real drag = !enable_idemix || enable_store_bottom_friction_tke;
    const real stored = enable_store_cabbeling_heat;
    const real *const nonlin = unless_zero(nonlinear, P_diss_nonlin, K_diss_v);
    const real *const eddies_to_tke = unless_zero(eddies, eke_diss_tke, K_diss_v);
    const real *const eddies_to_waves = unless_zero(eddies * (1 - to_waves), eke_diss_iw, K_diss_v);
    const real *const gm = unless_zero(mean_flow, K_diss_gm, K_diss_v);
    const real *const friction = unless_zero(mean_flow, K_diss_h, K_diss_v);
    const real *const skew = unless_zero(mean_flow, P_diss_skew, K_diss_v);
    const real *const hmix = unless_zero(mean_flow * stored, P_diss_hmix, K_diss_v);
    const real *const iso = unless_zero(mean_flow * stored, P_diss_iso, K_diss_v);
    const real *const bottom = unless_zero(drag, K_diss_bot, K_diss_v);
    const real *const waves = unless_zero(to_waves, iw_diss, K_diss_v);

    PARALLEL_ROWS
    for (count z = 0; z < nz; z++)
        for (count y = 0; y < ny; y++)
            for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
                const count row = (z * ny + y) * nx;
                const struct span part = {x0, x0 + ROW_PART(nx)};
                const struct span inside = interior(part, y, nx, ny);
                zero_outside(forc + row, part, inside);
                ALONG_X
                for (count x = inside.begin; x < inside.end; x++) {
                    const count i = row + x;
                    const real vertical =
                        K_diss_v[i] - P_diss_v[i] - P_diss_adv[i] - nonlinear * nonlin[i];
                    const real of_eddies = eddies_to_tke[i] + (1 - to_waves) * eddies_to_waves[i];
                    const real lateral =
                        gm[i] + friction[i] - skew[i] - stored * (hmix[i] + iso[i]);
                    forc[i] = vertical + eddies * of_eddies + mean_flow * lateral +
                              drag * bottom[i] + to_waves * waves[i];
                }
            }
}
