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
 * heats the water, what lateral and isoneutral mixing lose. The dissipation goes to internal waves.
 *
 * Then the points: what is explicit in time, which is lateral diffusion by K_gm and advection
 * (wgrid_step.h). It reads eke at time level tau only.
 */
#include "directives.h"
#include "maths.h"
#include "span.h"
#include "tile.h"
#include "variant.h"
#include "wgrid_mixing.h"
#include "wgrid_step.h"

#define DESCRIPTIONS "mixing/eke.kernel"

/* A face's diffusivity is the mean K_gm of its cells, or half of this if that is more. */
#define LEAST_SUM_OF_K ((real)500)

/* What the column solve reads and writes. As in tke.c, the reduced rows are kept in the outputs:
 * their ratios in deke, d' in eke_taup1, and the share that decays in a second in eke_diss_iw. */
struct columns {
    count nx, ny, nz;
    const real *dzt, *dzw, *kappaM, *eke_len, *eke;
    const real *K_diss_gm, *K_diss_h, *P_diss_skew, *P_diss_hmix, *P_diss_iso;
    const uint8_t *maskW;
    const int32_t *kbot;
    real *deke, *eke_taup1, *eke_diss_iw;
    real dt_tracer, alpha_eke, eke_c_eps, eke_lmin, is_source;
};

INLINED void eliminate_row(const struct columns *c, count k, count y, struct span inside)
{
    const count plane = c->ny * c->nx, top = c->nz - 1;
    const count below = k > 0 ? plane : 0, above = k < top ? plane : 0;
    const struct w_exchange m = w_exchange_at(c->dzt, c->dzw, k, top, c->dt_tracer * c->alpha_eke);
    ALONG_X
    for (count x = inside.begin; x < inside.end; x++) {
        const count column = y * c->nx + x, i = k * plane + column;
        const count ks = c->kbot[column] - 1;
        const bool wet = ks >= 0 && k >= ks;
        const real sqrteke = square_root(larger(0, c->eke[i]));
        const real length = larger(c->eke_lmin, c->eke_len[i]);
        const real decay = c->maskW[i] * c->eke_c_eps * sqrteke / length;
        const real sources = c->K_diss_gm[i] + c->K_diss_h[i] - c->P_diss_skew[i] -
                             c->is_source * (c->P_diss_hmix[i] + c->P_diss_iso[i]);
        const struct tridiagonal_row here =
            w_mixing_row(m, c->kappaM, i, below, above, wet, k <= ks, c->dt_tracer * decay,
                         c->eke[i] + c->dt_tracer * sources, c->eke_taup1[i]);
        const struct reduced_row under = {k > 0 ? c->deke[i - below] : 0,
                                          k > 0 ? c->eke_taup1[i - below] : 0};
        const struct reduced_row reduced = eliminate(here, under);
        c->deke[i] = reduced.ratio;
        c->eke_taup1[i] = reduced.d;
        c->eke_diss_iw[i] = wet ? decay : 0;
    }
}

INLINED void substitute_row(const struct columns *c, count k, count y, struct span part,
                            struct span inside)
{
    const count plane = c->ny * c->nx, row = k * plane + y * c->nx;
    const count above = k < c->nz - 1 ? plane : 0;
    zero_outside(c->eke_diss_iw + row, part, inside);
    ALONG_X
    for (count x = inside.begin; x < inside.end; x++) {
        const count i = row + x;
        const struct reduced_row reduced = {c->deke[i], c->eke_taup1[i]};
        const real solved = substitute(reduced, c->eke_taup1[i + above]);
        c->eke_taup1[i] = solved;
        c->eke_diss_iw[i] *= solved;
    }
}

/* Solves the columns of a part of the rows [begin, end), level by level. */
INLINED void solve_columns(const struct columns *c, count begin, count end, struct span part)
{
    for (count k = 0; k < c->nz; k++)
        for (count y = begin; y < end; y++)
            eliminate_row(c, k, y, interior(part, y, c->nx, c->ny));
    for (count k = c->nz - 1; k >= 0; k--)
        for (count y = begin; y < end; y++)
            substitute_row(c, k, y, part, interior(part, y, c->nx, c->ny));
}

#define STEP                                                                                       \
    {.o = W_OCEAN(eke, is_limited, .K_gm = K_gm, .uses_K_gm = true,                                \
                  .least_sum_of_K = LEAST_SUM_OF_K),                                               \
     .denergy_taum1 = deke_taum1,                                                                  \
     .denergy = deke,                                                                              \
     .energy_taup1 = eke_taup1,                                                                    \
     .dt_diffusion = dt_tracer,                                                                    \
     .dt_now = advects * dt_tracer * ((real)1.5 + AB_eps),                                         \
     .dt_before = advects * dt_tracer * ((real)0.5 + AB_eps),                                      \
     .advects = advects}

void VARIANT(eke)(const struct kernel_call *call)
{
#include "unpack.h"
    const real advects = enable_eke_superbee_advection || enable_eke_upwind_advection;
    const real is_limited = !enable_eke_upwind_advection;
    const real is_source = !enable_store_cabbeling_heat;
    const count rows = ROWS_TOGETHER(ny);

    PARALLEL_COLUMNS
    for (count y0 = 0; y0 < ny; y0 += rows)
        for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
            const struct columns c = {
                .nx = nx,
                .ny = ny,
                .nz = nz,
                .dzt = dzt,
                .dzw = dzw,
                .kappaM = kappaM,
                .eke_len = eke_len,
                .eke = eke,
                .K_diss_gm = K_diss_gm,
                .K_diss_h = K_diss_h,
                .P_diss_skew = P_diss_skew,
                .P_diss_hmix = P_diss_hmix,
                .P_diss_iso = P_diss_iso,
                .maskW = maskW,
                .kbot = kbot,
                .deke = deke,
                .eke_taup1 = eke_taup1,
                .eke_diss_iw = eke_diss_iw,
                .dt_tracer = dt_tracer,
                .alpha_eke = alpha_eke,
                .eke_c_eps = eke_c_eps,
                .eke_lmin = eke_lmin,
                .is_source = is_source,
            };
            const count end = TILE_END(y0, rows, ny);
            solve_columns(&c, y0, end, (struct span){x0, x0 + ROW_PART(nx)});
            STEP_TILE(STEP, y0, end);
        }

    STEP_POINTS(STEP, nz, ny, nx)
}
