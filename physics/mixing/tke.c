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
 * a tridiagonal system a column. Then the points: what is explicit in time, which is lateral
 * diffusion with step dt_mom and advection with step dt_tracer (wgrid_step.h). It reads tke at time
 * level tau only, so it depends neither on its own order nor on the columns' solution, to which it
 * adds. On the host both happen to a tile of rows together; on a GPU each is a nest.
 *
 * A W cell reaches from one T point to the next; the one at the surface is half a cell.
 */
#include "directives.h"
#include "maths.h"
#include "span.h"
#include "tile.h"
#include "variant.h"
#include "wgrid_mixing.h"
#include "wgrid_step.h"

#define DESCRIPTIONS "mixing/tke.kernel"

/* What the column solve reads and writes. The reduced rows are kept in the outputs: their ratios in
 * dtke, d' in tke_taup1, and the share that decays in a step in tke_diss. */
struct columns {
    count nx, ny, nz;
    count level, top; /* cells of a level, and the uppermost level */
    const real *dzt, *dzw, *kappaM, *mxl, *forc, *forc_tke_surface, *tke;
    const int32_t *kbot;
    real *dtke, *tke_taup1, *tke_diss, *tke_surf_corr;
    real dt_tke, per_dt_tke, alpha_tke, c_eps;
};

/* On land and below the lowest water tke_taup1 keeps what it held. */
INLINED void eliminate_row(const struct columns *c, count k, count y, struct span inside)
{
    const count below = k > 0 ? c->level : 0, above = k < c->top ? c->level : 0;
    const struct w_exchange m = w_exchange_at(c->dzt, c->dzw, k, c->top, c->dt_tke * c->alpha_tke);
    const real surface = k < c->top ? 0 : c->dt_tke / m.height;
    ALONG_X
    for (count x = inside.begin; x < inside.end; x++) {
        const count column = y * c->nx + x, i = k * c->level + column;
        const count ks = c->kbot[column] - 1;
        const bool wet = ks >= 0 && k >= ks;
        const real sqrttke = square_root(larger(0, c->tke[i]));
        const real decay = c->dt_tke * c->c_eps * sqrttke / c->mxl[i];
        const real d = c->tke[i] + c->dt_tke * c->forc[i] + surface * c->forc_tke_surface[column];
        const struct tridiagonal_row here =
            w_mixing_row(m, c->kappaM, i, below, above, wet, k <= ks, decay, d, c->tke_taup1[i]);
        const struct reduced_row under = {k > 0 ? c->dtke[i - below] : 0,
                                          k > 0 ? c->tke_taup1[i - below] : 0};
        const struct reduced_row reduced = eliminate(here, under);
        c->dtke[i] = reduced.ratio;
        c->tke_taup1[i] = reduced.d;
        c->tke_diss[i] = wet ? decay : 0;
    }
}

INLINED void substitute_row(const struct columns *c, count k, count y, struct span part,
                            struct span inside)
{
    const count row = k * c->level + y * c->nx;
    const count above = k < c->top ? c->level : 0;
    zero_outside(c->tke_diss + row, part, inside);
    ALONG_X
    for (count x = inside.begin; x < inside.end; x++) {
        const count i = row + x;
        const struct reduced_row reduced = {c->dtke[i], c->tke_taup1[i]};
        const real solved = substitute(reduced, c->tke_taup1[i + above]);
        c->tke_taup1[i] = solved;
        c->tke_diss[i] *= c->per_dt_tke * solved;
    }
}

/* If the flux through the surface drains more than there is, the excess is put back and accounted
 * for. */
INLINED void refill_surface(const struct columns *c, count y, struct span part, struct span inside)
{
    const count row = y * c->nx, top = c->top;
    zero_outside(c->tke_surf_corr + row, part, inside);
    ALONG_X
    for (count x = inside.begin; x < inside.end; x++) {
        real *const surface = &c->tke_taup1[top * c->level + row + x];
        c->tke_surf_corr[row + x] = larger(0, -*surface) * (c->dzw[top] / 2 / c->dt_tke);
        *surface = larger(0, *surface);
    }
}

/* Solves the columns of a part of the rows [begin, end), level by level. */
INLINED void solve_columns(const struct columns *c, count begin, count end, struct span part)
{
    for (count k = 0; k < c->nz; k++)
        for (count y = begin; y < end; y++)
            eliminate_row(c, k, y, interior(part, y, c->nx, c->ny));
    for (count k = c->top; k >= 0; k--)
        for (count y = begin; y < end; y++)
            substitute_row(c, k, y, part, interior(part, y, c->nx, c->ny));
    for (count y = begin; y < end; y++)
        refill_surface(c, y, part, interior(part, y, c->nx, c->ny));
}

#define STEP                                                                                       \
    {.o = W_OCEAN(tke, is_limited, .K_h = K_h),                                                    \
     .denergy_taum1 = dtke_taum1,                                                                  \
     .denergy = dtke,                                                                              \
     .energy_taup1 = tke_taup1,                                                                    \
     .dt_diffusion = dt_mom,                                                                       \
     .dt_now = advects * dt_tracer * ((real)1.5 + AB_eps),                                         \
     .dt_before = advects * dt_tracer * ((real)0.5 + AB_eps),                                      \
     .advects = advects}

void VARIANT(tke)(const struct kernel_call *call)
{
#include "unpack.h"
    const real advects = enable_tke_superbee_advection || enable_tke_upwind_advection;
    const real is_limited = !enable_tke_upwind_advection;
    const real K_h = enable_tke_hor_diffusion ? K_h_tke : 0;
    const real per_dt_tke = 1 / dt_mom;
    const count level = ny * nx, top = nz - 1;
    const count rows = ROWS_TOGETHER(ny);

    PARALLEL_COLUMNS
    for (count y0 = 0; y0 < ny; y0 += rows)
        for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
            const struct columns c = {
                .nx = nx,
                .ny = ny,
                .nz = nz,
                .level = level,
                .top = top,
                .dzt = dzt,
                .dzw = dzw,
                .kappaM = kappaM,
                .mxl = mxl,
                .forc = forc,
                .forc_tke_surface = forc_tke_surface,
                .tke = tke,
                .kbot = kbot,
                .dtke = dtke,
                .tke_taup1 = tke_taup1,
                .tke_diss = tke_diss,
                .tke_surf_corr = tke_surf_corr,
                .dt_tke = dt_mom,
                .per_dt_tke = per_dt_tke,
                .alpha_tke = alpha_tke,
                .c_eps = c_eps,
            };
            const count end = TILE_END(y0, rows, ny);
            solve_columns(&c, y0, end, (struct span){x0, x0 + ROW_PART(nx)});
            STEP_TILE(STEP, y0, end);
        }

    STEP_POINTS(STEP, nz, ny, nx)
}
