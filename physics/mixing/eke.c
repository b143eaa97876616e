/*
 * Eddy kinetic energy: one time step of eke on the W grid, as in Veros (Eden and Greatbatch 2008).
 *
 * First the columns: vertical mixing and dissipation, implicit in time with step dt_tracer,
 *
 *     eke' = eke + dt_tracer (d/dz alpha_eke kappaM deke'/dz
 *                             - eke_c_eps sqrt(eke) / eke_len eke' + sources),
 *
 * a tridiagonal system a column. The sources are the kinetic energy that the mean flow loses to
 * friction and to eddies, the potential energy that it loses by skew diffusion and, unless that
 * heats the water, the loss by lateral and isoneutral mixing. Internal waves take the dissipation.
 *
 * Then the points: lateral diffusion by K_gm and advection, both explicit in time (wgrid_step.h).
 * They read eke at time level tau only.
 *
 * tke.c is built the same way, and explains more.
 */
#define DESCRIPTION "mixing/eke.kernel"
#define STEPPED eke
/* DERIVED_OF_STEP takes the energy, the time step of lateral diffusion, whether there is advection,
 * and whether superbee limits it. */
#define DERIVED(VALUE)                                                                             \
    DERIVED_OF_STEP(VALUE, eke, dt_tracer,                                                         \
                    enable_eke_superbee_advection || enable_eke_upwind_advection,                  \
                    !enable_eke_upwind_advection)                                                  \
    VALUE(real, is_source, !enable_store_cabbeling_heat)

#include "maths.h"
#include "wgrid_mixing.h"
#include "wgrid_step.h"

/* The least sum of K_gm of the two cells at a face. */
#define LEAST_SUM_OF_K ((real)500)

INLINED real lateral_diffusivity(const struct arguments *a, count i, count j)
{
    return larger(LEAST_SUM_OF_K, a->K_gm[i] + a->K_gm[j]) / 2;
}

INLINED real diffused(const struct arguments *a, count i)
{
    return a->eke[i];
}

/* The way up of the column solve. It keeps its reduced rows in the outputs: their ratios in deke,
 * d' in eke_taup1, and the share that decays in a second in eke_diss_iw. */
INLINED void eliminate_row(const struct arguments *a, count k, count y, struct span inside)
{
    const count plane = a->ny * a->nx, top = a->nz - 1;
    const count below = k > 0 ? plane : 0, above = k < top ? plane : 0;
    const struct w_exchange m = w_exchange_at(a->dzt, a->dzw, k, top, a->dt_tracer * a->alpha_eke);
    ALONG_X
    for (count x = inside.begin; x < inside.end; x++) {
        const count column = y * a->nx + x, i = k * plane + column;
        const count ks = a->kbot[column] - 1; /* the lowest level with water; -1 on land */
        const bool wet = ks >= 0 && k >= ks;
        const real sqrteke = square_root(larger(0, a->eke[i]));
        const real length = larger(a->eke_lmin, a->eke_len[i]);
        const real decay = a->maskW[i] * a->eke_c_eps * sqrteke / length;
        const real sources = a->K_diss_gm[i] + a->K_diss_h[i] - a->P_diss_skew[i] -
                             a->is_source * (a->P_diss_hmix[i] + a->P_diss_iso[i]);
        const struct tridiagonal_row here =
            w_mixing_row(m, a->kappaM, i, below, above, wet, k <= ks, a->dt_tracer * decay,
                         a->eke[i] + a->dt_tracer * sources, a->eke_taup1[i]);
        const struct reduced_row under = {k > 0 ? a->deke[i - below] : 0,
                                          k > 0 ? a->eke_taup1[i - below] : 0};
        const struct reduced_row reduced = eliminate(here, under);
        a->deke[i] = reduced.ratio;
        a->eke_taup1[i] = reduced.d;
        a->eke_diss_iw[i] = wet ? decay : 0;
    }
}

INLINED void substitute_row(const struct arguments *a, count k, count y, struct span part,
                            struct span inside)
{
    const count plane = a->ny * a->nx, row = k * plane + y * a->nx;
    const count above = k < a->nz - 1 ? plane : 0;
    zero_outside(a->eke_diss_iw + row, part, inside);
    ALONG_X
    for (count x = inside.begin; x < inside.end; x++) {
        const count i = row + x;
        const struct reduced_row reduced = {a->deke[i], a->eke_taup1[i]};
        const real solved = substitute(reduced, a->eke_taup1[i + above]);
        a->eke_taup1[i] = solved;
        a->eke_diss_iw[i] *= solved;
    }
}

INLINED void finish_row(const struct arguments *a, count y, struct span part, struct span inside)
{
    (void)a, (void)y, (void)part, (void)inside; /* eke has no surface of its own */
}

#include "wgrid_columns.h"
