/*
 * Turbulent kinetic energy: one time step of tke on the W grid (Gaspar, Gregoris and Lefevre 1990
 * as in Veros).
 *
 * As in Veros, settings switch lateral diffusion, and choose advection by superbee, by the upwind
 * scheme, or none. Without advection dtke is 0, and the tendency of the step before is ignored.
 *
 * First the columns: vertical mixing and dissipation, implicit in time with step dt_mom,
 *
 *     tke' = tke + dt_mom (d/dz alpha_tke kappaM dtke'/dz - c_eps sqrt(tke) / mxl tke' + forc),
 *
 * a tridiagonal system a column. Then the points: lateral diffusion with step dt_mom and advection
 * with step dt_tracer, both explicit in time (wgrid_step.h). They read tke at time level tau only,
 * so points may be stepped in any order, and add to the solution of the columns. On the host both
 * happen to a tile of rows together; on a GPU each is a nest.
 *
 * A W cell reaches from one T point to the next; the one at the surface is half a cell.
 *
 * arguments.h says what DESCRIPTION and DERIVED are for. wgrid_columns.h, at the end, has the
 * kernel's function: it calls those below.
 */
#define DESCRIPTION "mixing/tke.kernel"
#define STEPPED tke
/* DERIVED_OF_STEP takes the energy, the time step of lateral diffusion, whether there is advection,
 * and whether superbee limits it. */
#define DERIVED(VALUE)                                                                             \
    DERIVED_OF_STEP(VALUE, tke, dt_mom,                                                            \
                    enable_tke_superbee_advection || enable_tke_upwind_advection,                  \
                    !enable_tke_upwind_advection)                                                  \
    VALUE(real, K_h, enable_tke_hor_diffusion ? K_h_tke : 0)                                       \
    VALUE(real, per_dt_mom, 1 / dt_mom)

#include "maths.h"
#include "wgrid_mixing.h"
#include "wgrid_step.h"

/* The diffusivity of a face: here one number, whatever its cells. */
INLINED real lateral_diffusivity(const struct arguments *a, count i, count j)
{
    return (void)i, (void)j, a->K_h;
}

INLINED real diffused(const struct arguments *a, count i)
{
    return a->tke[i];
}

/* The way up of the column solve. It keeps its reduced rows in the outputs: their ratios in dtke,
 * d' in tke_taup1, and the share that decays in a step in tke_diss. On land and below the lowest
 * water tke_taup1 keeps its value. */
INLINED void eliminate_row(const struct arguments *a, count k, count y, struct span inside)
{
    const count plane = a->ny * a->nx, top = a->nz - 1;
    const count below = k > 0 ? plane : 0, above = k < top ? plane : 0;
    const struct w_exchange m = w_exchange_at(a->dzt, a->dzw, k, top, a->dt_mom * a->alpha_tke);
    const real surface = k < top ? 0 : a->dt_mom / m.height;
    ALONG_X
    for (count x = inside.begin; x < inside.end; x++) {
        const count column = y * a->nx + x, i = k * plane + column;
        const count ks = a->kbot[column] - 1; /* the lowest level with water; -1 on land */
        const bool wet = ks >= 0 && k >= ks;
        const real sqrttke = square_root(larger(0, a->tke[i]));
        const real decay = a->dt_mom * a->c_eps * sqrttke / a->mxl[i];
        const real d = a->tke[i] + a->dt_mom * a->forc[i] + surface * a->forc_tke_surface[column];
        const struct tridiagonal_row here =
            w_mixing_row(m, a->kappaM, i, below, above, wet, k <= ks, decay, d, a->tke_taup1[i]);
        const struct reduced_row under = {k > 0 ? a->dtke[i - below] : 0,
                                          k > 0 ? a->tke_taup1[i - below] : 0};
        const struct reduced_row reduced = eliminate(here, under);
        a->dtke[i] = reduced.ratio;
        a->tke_taup1[i] = reduced.d;
        a->tke_diss[i] = wet ? decay : 0;
    }
}

/* The way down: the solution replaces d'. */
INLINED void substitute_row(const struct arguments *a, count k, count y, struct span part,
                            struct span inside)
{
    const count plane = a->ny * a->nx, row = k * plane + y * a->nx;
    const count above = k < a->nz - 1 ? plane : 0;
    zero_outside(a->tke_diss + row, part, inside);
    ALONG_X
    for (count x = inside.begin; x < inside.end; x++) {
        const count i = row + x;
        const struct reduced_row reduced = {a->dtke[i], a->tke_taup1[i]};
        const real solved = substitute(reduced, a->tke_taup1[i + above]);
        a->tke_taup1[i] = solved;
        a->tke_diss[i] *= a->per_dt_mom * solved;
    }
}

/* If the flux through the surface drains more energy than there is, the excess is put back, and
 * tke_surf_corr accounts for it. */
INLINED void finish_row(const struct arguments *a, count y, struct span part, struct span inside)
{
    const count plane = a->ny * a->nx, row = y * a->nx, top = a->nz - 1;
    zero_outside(a->tke_surf_corr + row, part, inside);
    ALONG_X
    for (count x = inside.begin; x < inside.end; x++) {
        real *const surface = &a->tke_taup1[top * plane + row + x];
        a->tke_surf_corr[row + x] = larger(0, -*surface) * (a->dzw[top] / 2 / a->dt_mom);
        *surface = larger(0, *surface);
    }
}

#include "wgrid_columns.h"
