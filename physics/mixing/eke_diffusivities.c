/*
 * Skew and isoneutral diffusivity from eddy kinetic energy, as in Veros (Eden and Greatbatch 2008):
 *
 *     K_gm = min(eke_k_max, eke_c_k eke_len sqrteke),
 *
 * where the length of eddies is the smaller of the Rossby radius and Rhines's length. The Rossby
 * radius is that of the first baroclinic mode or, near the equator, of the waves trapped there.
 * Without eddy kinetic energy both diffusivities are constant, and all other outputs are 0.
 */
#include "arctan.h"
#include "directives.h"
#include "maths.h"
#include "rows.h"

#define DESCRIPTION "mixing/eke_diffusivities.kernel"

#define LEAST_CORIOLIS ((real)1e-16)
#define LEAST_BETA ((real)1e-16)

void VARIANT(eke_diffusivities)(const struct kernel_call *call)
{
#include "unpack.h"
    const count plane = ny * nx;
    const real has_eke = enable_eke != 0;
    const real iso_by_eke = enable_eke && enable_eke_isopycnal_diffusion;

    const count rows = rows_together(ny);

    PARALLEL_COLUMNS
    for (count y = 0; y < ny; y += rows)
        for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
            const count first = y * nx + x0;
            const count end = first + rows_left(rows, y, ny) * ROW_PART(nx);

            for (count k = 0; k < nz; k++) {
                ALONG_X
                for (count column = first; column < end; column++) {
                    const count i = k * plane + column;
                    const real below = k > 0 ? L_rossby[column] : 0;
                    L_rossby[column] = below + maskW[i] * dzw[k] * square_root(larger(0, Nsqr[i]));
                }
            }

            /* The sum is pi times the speed of the first baroclinic wave. */
            ALONG_X
            for (count column = first; column < end; column++) {
                const real speed = L_rossby[column] * (real)(1 / PI);
                const real off_equator =
                    speed / larger(LEAST_CORIOLIS, magnitude(coriolis_t[column]));
                const real equator = square_root(speed / larger(LEAST_BETA, 2 * beta[column]));
                L_rossby[column] = has_eke * smaller(off_equator, equator);
            }

            for (count k = 0; k < nz; k++) {
                ALONG_X
                for (count column = first; column < end; column++) {
                    const count i = k * plane + column;
                    const real root = square_root(larger(0, eke[i]));
                    const real rhines = square_root(root / larger(LEAST_BETA, beta[column]));
                    const real shorter = smaller(eke_cross * L_rossby[column], eke_crhin * rhines);
                    const real length = larger(eke_lmin, shorter);
                    const real by_eke = smaller(eke_k_max, eke_c_k * length * root);
                    sqrteke[i] = has_eke * root;
                    L_rhines[i] = has_eke * rhines;
                    eke_len[i] = has_eke * length;
                    K_gm[i] = enable_eke ? by_eke : K_gm_0;
                    K_iso[i] = iso_by_eke ? by_eke : K_iso_0;
                }
            }
        }
}
