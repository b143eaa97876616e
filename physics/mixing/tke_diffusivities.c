/*
 * Mixing length, vertical viscosity and diffusivity from turbulent kinetic energy on the W grid, as
 * in Veros's set_tke_diffusivities.
 *
 * The mixing length is the buoyancy length, bounded by the distance to the surface and the bottom
 * (tke_mxl_choice 1), or so that from one cell to the next it grows by no more than a cell's
 * height, downwards from the surface and then upwards from the bottom (2). With it
 *
 *     kappaM = min(kappaM_max, c_k mxl sqrttke),    kappaH = max(kappaH_min, kappaM / Prandtl),
 *
 * where the Prandtl number is 6.6 times the Richardson number, kept between 1 and 10. Where
 * internal waves have an energy of their own, the Richardson number is at most that of the shear
 * which their dissipation tells of. The order of the lower bounds matters: the profile of Bryan and
 * Lewis (1979) bounds kappaH, and kappaM gets its own lower bound last, after kappaH was made from
 * it.
 */
#define DESCRIPTION "mixing/tke_diffusivities.kernel"
#include "arctan.h"
#include "arguments.h"
#include "maths.h"
#include "rows.h"

#include <stdbool.h>

#define LEAST_NSQR ((real)1e-12)
#define LEAST_KAPPA ((real)1e-12)
#define LEAST_SHEAR ((real)1e-12) /* squared: K_diss_v / kappaM */
#define LEAST_DISSIPATION ((real)1e-12)
#define UNBOUNDED ((real)1e30)

/* The floor of kappaH at a height: it rises from 0.3e-4 at the surface to 1.3e-4 in the deep. */
INLINED real bryan_lewis(real zw)
{
    return ((real)0.8 + (real)(1.05 / PI) * arctan((-zw - 2500) / (real)222.2)) * (real)1e-4;
}

/* sqrt(2 tke / Nsqr), with Nsqr no less than LEAST_NSQR. */
INLINED real buoyancy_length(real tke, real Nsqr)
{
    return square_root(2 * tke / larger(LEAST_NSQR, Nsqr));
}

/* Values that the points of a level share: bounds of the mixing lengths, the viscosity, the
 * diffusivity and the Prandtl number. */
struct diffusivities {
    real from_surface, from_below, mxl_min;
    real c_k, kappaM_min, kappaM_max, kappaH_least;
    real prandtl_least, prandtl_most, prandtl_by_richardson;
};

struct viscosities {
    real kappaM, kappaH, prandtl;
};

/* `has_waves` is a literal. */
INLINED struct viscosities viscosities(const struct diffusivities *d, real mxl, real sqrttke,
                                       real Nsqr, real K_diss_v, real iw_diss, bool has_waves)
{
    const real kappaM = smaller(d->kappaM_max, d->c_k * mxl * sqrttke);
    const real stirred = larger(LEAST_KAPPA, kappaM);
    const real of_flow = Nsqr * stirred / larger(LEAST_SHEAR * stirred, K_diss_v);
    const real of_waves = has_waves ? kappaM * Nsqr / larger(LEAST_DISSIPATION, iw_diss) : 0;
    const real richardson = has_waves ? smaller(of_flow, of_waves) : of_flow;
    const real prandtl =
        larger(d->prandtl_least, smaller(d->prandtl_most, d->prandtl_by_richardson * richardson));
    return (struct viscosities){
        .kappaM = larger(d->kappaM_min, kappaM),
        .kappaH = larger(d->kappaH_least, kappaM / prandtl),
        .prandtl = prandtl,
    };
}

/* A part of a level, from cell `first` on. For each column `kept` holds the depth of the bottom or,
 * if lengths grow, the length in the cell below: then mxl holds their bound from above, and `kept`
 * becomes the length. `grows` and `has_waves` are literals, so that the loop has no branch. */
INLINED void diffusivities_of_row(const struct arguments *a, count first, count points, real *kept,
                                  const struct diffusivities *diffusivities, bool grows,
                                  bool has_waves)
{
    const struct diffusivities d = *diffusivities;
    ALONG_X
    for (count x = 0; x < points; x++) {
        const count i = first + x;
        const real energy = larger(0, a->tke[i]);
        const real from_above =
            grows ? a->mxl[i] : a->maskW[i] * buoyancy_length(energy, a->Nsqr[i]);
        const real bounded = smaller(smaller(from_above, d.from_surface), kept[x] + d.from_below);
        const real length = larger(d.mxl_min, bounded);
        const real root = square_root(energy);
        const real iw_diss = has_waves ? a->alpha_c[i] * a->E_iw[i] * a->E_iw[i] : 0;
        const struct viscosities m =
            viscosities(&d, length, root, a->Nsqr[i], a->K_diss_v[i], iw_diss, has_waves);
        if (grows)
            kept[x] = bounded;
        a->sqrttke[i] = root;
        a->mxl[i] = length;
        a->kappaM[i] = m.kappaM;
        a->kappaH[i] = m.kappaH;
        a->Prandtlnumber[i] = m.prandtl;
    }
}

/* Calls it with literals that follow from the settings. */
INLINED void diffusivities_of_level(const struct arguments *a, count first, count points,
                                    real *kept, const struct diffusivities *d)
{
    const bool grows = a->tke_mxl_choice == 2;
    if (grows && a->enable_idemix)
        diffusivities_of_row(a, first, points, kept, d, true, true);
    else if (grows)
        diffusivities_of_row(a, first, points, kept, d, true, false);
    else if (a->enable_idemix)
        diffusivities_of_row(a, first, points, kept, d, false, true);
    else
        diffusivities_of_row(a, first, points, kept, d, false, false);
}

/* Where lengths grow: bounds those of level k by the level above. */
INLINED void bound_from_above(const struct arguments *a, count k, count begin, count end)
{
    const count plane = a->ny * a->nx, top = a->nz - 1;
    const count above = k < top ? plane : 0;
    const real growth = k < top ? a->dzt[k + 1] : UNBOUNDED;
    ALONG_X
    for (count column = begin; column < end; column++) {
        const count i = k * plane + column;
        const real length = a->maskW[i] * buoyancy_length(larger(0, a->tke[i]), a->Nsqr[i]);
        const real bound = k < top ? a->mxl[i + above] + growth : UNBOUNDED;
        a->mxl[i] = smaller(length, bound);
    }
}

/* Adds the height of level k to the depths of those columns that have water there. */
INLINED void add_to_depths(const struct arguments *a, count k, count begin, count end, real *depth)
{
    const real height = a->dzt[k];
    ALONG_X
    for (count x = 0; x < end - begin; x++) {
        const int32_t bottom = a->kbot[begin + x];
        const bool is_wet = bottom > 0 && bottom <= (int32_t)k + 1;
        depth[x] += is_wet ? height : 0;
    }
}

void VARIANT(tke_diffusivities)(const struct kernel_call *call)
{
#include "unpack.h"
    const count plane = ny * nx, top = nz - 1;
    const bool grows = tke_mxl_choice == 2;
    const count rows = rows_together(ny);

    PARALLEL_COLUMNS
    for (count y = 0; y < ny; y += rows)
        for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
            const struct arguments a = {
#include "gather.h"
            };
            const count begin = y * nx + x0;
            const count end = begin + rows_left(rows, y, ny) * ROW_PART(nx);
            for (count k = top; k >= 0 && grows; k--)
                bound_from_above(&a, k, begin, end);

            /* Lengths are bounded from the bottom by the depth of the column, the sum of its cells,
             * or by the length in the cell below. That bound is kept in the surface level of the
             * Prandtl number, which is written last. */
            real *const kept = Prandtlnumber + top * plane + begin;
            ALONG_X
            for (count x = 0; x < end - begin; x++)
                kept[x] = 0;
            for (count k = top; k >= 0 && !grows; k--)
                add_to_depths(&a, k, begin, end, kept);

            for (count k = 0; k < nz; k++) {
                const count first = k * plane + begin;
                /* If lengths grow, the surface itself bounds only the uppermost one. */
                const struct diffusivities d = {
                    .from_surface = !grows    ? dzw[k] / 2 - zw[k]
                                    : k < top ? UNBOUNDED
                                              : mxl_min + dzt[top],
                    .from_below = !grows  ? zw[k]
                                  : k > 0 ? dzt[k]
                                          : UNBOUNDED,
                    .mxl_min = mxl_min,
                    .c_k = c_k,
                    .kappaM_min = kappaM_min,
                    .kappaM_max = kappaM_max,
                    .kappaH_least =
                        enable_kappaH_profile ? larger(kappaH_min, bryan_lewis(zw[k])) : kappaH_min,
                    .prandtl_least = enable_Prandtl_tke ? 1 : Prandtl_tke0,
                    .prandtl_most = enable_Prandtl_tke ? 10 : Prandtl_tke0,
                    .prandtl_by_richardson = (real)6.6,
                };
                diffusivities_of_level(&a, first, end - begin, kept, &d);
            }
        }
}
