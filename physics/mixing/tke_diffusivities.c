/*
 * Mixing length, vertical viscosity and diffusivity from turbulent kinetic energy on the W grid, as
 * in Veros's set_tke_diffusivities.
 *
 * The mixing length is the buoyancy length, bounded by the distance to the surface and the bottom
 * (tke_mxl_choice 1), or by the growth of one cell a cell from them, downwards and then upwards
 * (2). With it
 *
 *     kappaM = min(kappaM_max, c_k mxl sqrttke),    kappaH = max(kappaH_min, kappaM / Prandtl),
 *
 * where the Prandtl number is 6.6 times Richardson's, between 1 and 10. The order of the floors
 * matters: the profile of Bryan and Lewis (1979) bounds kappaH, and kappaM gets its own floor last,
 * when kappaH is made.
 */
#include "arctan.h"
#include "directives.h"
#include "maths.h"

#include <stdbool.h>

#define DESCRIPTIONS "mixing/tke_diffusivities.kernel"

#define LEAST_NSQR ((real)1e-12)
#define LEAST_KAPPA ((real)1e-12)
#define LEAST_SHEAR ((real)1e-12) /* squared: K_diss_v / kappaM */
#define UNBOUNDED ((real)1e30)

/* The floor of kappaH at a height: it rises from 0.3e-4 at the surface to 1.3e-4 in the deep. */
INLINED real bryan_lewis(real zw)
{
    return ((real)0.8 + (real)(1.05 / PI) * arctan((-zw - 2500) / (real)222.2)) * (real)1e-4;
}

/* sqrt(2 tke / Nsqr), as long as the stratification is strong enough. */
INLINED real buoyancy_length(real tke, real Nsqr)
{
    return square_root(2 * tke / larger(LEAST_NSQR, Nsqr));
}

/* The diffusivities of a level, once its mixing length is known. */
struct diffusivities {
    real c_k, kappaM_min, kappaM_max, kappaH_least;
    real prandtl_least, prandtl_most, prandtl_by_richardson;
};

struct mixing {
    real kappaM, kappaH, prandtl;
};

INLINED struct mixing mixing(const struct diffusivities *d, real mxl, real sqrttke, real Nsqr,
                             real K_diss_v)
{
    const real kappaM = smaller(d->kappaM_max, d->c_k * mxl * sqrttke);
    const real stirred = larger(LEAST_KAPPA, kappaM);
    const real richardson = Nsqr * stirred / larger(LEAST_SHEAR * stirred, K_diss_v);
    const real prandtl =
        larger(d->prandtl_least, smaller(d->prandtl_most, d->prandtl_by_richardson * richardson));
    return (struct mixing){
        .kappaM = larger(d->kappaM_min, kappaM),
        .kappaH = larger(d->kappaH_least, kappaM / prandtl),
        .prandtl = prandtl,
    };
}

void VARIANT(tke_diffusivities)(const struct kernel_call *call)
{
#include "unpack.h"
    const ptrdiff_t plane = ny * nx;
    const ptrdiff_t top = nz - 1;
    const bool grows = tke_mxl_choice == 2;

    SLABS(y0, y1, ny, nx)
    PARALLEL_COLUMNS
    for (count y = y0; y < y1; y++)
        for (count x0 = 0; x0 < (count)nx; x0 += ROW_PART(nx)) {
            const ptrdiff_t row = y * nx;
            const ptrdiff_t x1 = x0 + ROW_PART(nx);

            for (ptrdiff_t k = top; k >= 0; k--) {
                const ptrdiff_t above = k < top ? plane : 0;
                const real growth = grows && k < top ? dzt[k + 1] : UNBOUNDED;
                ALONG_X
                for (ptrdiff_t x = x0; x < x1; x++) {
                    const ptrdiff_t i = k * plane + row + x;
                    const real energy = larger(0, tke[i]);
                    const real length = maskW[i] * buoyancy_length(energy, Nsqr[i]);
                    const real bound = k < top ? mxl[i + above] + growth : UNBOUNDED;
                    sqrttke[i] = square_root(energy);
                    mxl[i] = smaller(length, bound);
                }
            }

            /* The depth of a column is the sum of its cells. It is summed in the Prandtl number,
             * the lowest of which is made last. */
            for (ptrdiff_t k = top; k >= 0 && !grows; k--) {
                const ptrdiff_t above = k < top ? plane : 0;
                ALONG_X
                for (ptrdiff_t x = x0; x < x1; x++) {
                    const ptrdiff_t i = k * plane + row + x;
                    const real from_above = k < top ? Prandtlnumber[i + above] : 0;
                    const ptrdiff_t deepest = kbot[row + x] - 1;
                    const bool wet = deepest >= 0 && k >= deepest;
                    Prandtlnumber[i] = from_above + (wet ? dzt[k] : 0);
                }
            }

            /* The surface bounds only what lies below it. */
            for (ptrdiff_t k = 0; k < nz && grows; k++) {
                const ptrdiff_t below = k > 0 ? plane : 0;
                const real growth = k > 0 ? dzt[k] : UNBOUNDED;
                const real bound = k < top ? UNBOUNDED : mxl_min + dzt[top];
                ALONG_X
                for (ptrdiff_t x = x0; x < x1; x++) {
                    const ptrdiff_t i = k * plane + row + x;
                    mxl[i] = smaller(smaller(mxl[i], bound), mxl[i - below] + growth);
                }
            }

            for (ptrdiff_t k = top; k >= 0; k--) {
                const struct diffusivities d = {
                    .c_k = c_k,
                    .kappaM_min = kappaM_min,
                    .kappaM_max = kappaM_max,
                    .kappaH_least =
                        enable_kappaH_profile ? larger(kappaH_min, bryan_lewis(zw[k])) : kappaH_min,
                    .prandtl_least = enable_Prandtl_tke ? 1 : Prandtl_tke0,
                    .prandtl_most = enable_Prandtl_tke ? 10 : Prandtl_tke0,
                    .prandtl_by_richardson = (real)6.6,
                };
                const real from_surface = dzw[k] / 2 - zw[k];
                ALONG_X
                for (ptrdiff_t x = x0; x < x1; x++) {
                    const ptrdiff_t i = k * plane + row + x;
                    real length = mxl[i];
                    if (!grows) {
                        const real depth = Prandtlnumber[row + x];
                        length = smaller(smaller(length, from_surface), depth + zw[k]);
                    }
                    length = larger(mxl_min, length);
                    const struct mixing m = mixing(&d, length, sqrttke[i], Nsqr[i], K_diss_v[i]);
                    mxl[i] = length;
                    kappaM[i] = m.kappaM;
                    kappaH[i] = m.kappaH;
                    Prandtlnumber[i] = m.prandtl;
                }
            }
        }
}
