/*
 * The terms of momentum's tendency, for diagnostics: Coriolis force with metric terms, advection,
 * friction, and the hydrostatic pressure, by the functions of momentum itself. It runs after all
 * friction and before the external mode: friction is what u_taup1 has more than a step of u by all
 * else, whichever kernels made it.
 */
#define DESCRIPTION "momentum/momentum_terms.kernel"
#include "span.h"
#include "terms.h"

#define OUTPUTS(DO) DO(du_cor) DO(dv_cor) DO(du_adv) DO(dv_adv) DO(du_mix) DO(dv_mix) DO(p_hydro)

/* The columns of a chunk leave these for the level below. */
struct columns_above {
    real p[ROW_CHUNK], flux_u[ROW_CHUNK], flux_v[ROW_CHUNK];
};

INLINED real friction_in_step(const struct arguments *a, const real *flow, const real *after,
                              const real *now, const real *before, count i)
{
    return (after[i] - flow[i]) / a->dt_mom -
           (((real)1.5 + a->AB_eps) * now[i] - ((real)0.5 + a->AB_eps) * before[i]);
}

INLINED void split_point(const struct arguments *a, const struct flow_row *r, struct where at,
                         real *p, real *flux_u, real *flux_v)
{
    const count i = at.i, nx = a->nx;
    const int32_t *const kbot = a->kbot + at.column;
    const bool wet_u = both_wet(kbot[0], kbot[1]) <= (level)at.k;
    const bool wet_v = both_wet(kbot[0], kbot[nx]) <= (level)at.k;
    const real turned_u = turned_into_u(a, r, at) / 4 * at.per_dxu;
    const real turned_v = -r->per_dy_v * turned_into_v(a, r, at) / 4;
    const real carried_u = -r->per_dy_u * out_of_u(a, r, at, flux_u) / 4 * at.per_dxu;
    const real carried_v = -r->per_dy_v * out_of_v(a, r, at, flux_v) / 4;
    const real mixed_u = friction_in_step(a, a->u, a->u_taup1, a->du, a->du_taum1, i);
    const real mixed_v = friction_in_step(a, a->v, a->v_taup1, a->dv, a->dv_taum1, i);
    *p = pressure(a, at.k, i, lowest_wet(kbot[0]), *p);
    a->du_cor[i] = wet_u ? turned_u : 0;
    a->dv_cor[i] = wet_v ? turned_v : 0;
    a->du_adv[i] = wet_u ? carried_u : 0;
    a->dv_adv[i] = wet_v ? carried_v : 0;
    a->du_mix[i] = wet_u ? mixed_u : 0;
    a->dv_mix[i] = wet_v ? mixed_v : 0;
    a->p_hydro[i] = *p;
}

INLINED void split_columns(const struct arguments *a, count y, struct span cells)
{
    struct flow_row r = flow_row_at(a, y);
    struct columns_above m;
    for (count at = 0; at < cells.end - cells.begin; at++)
        m.p[at] = m.flux_u[at] = m.flux_v[at] = 0;
    for (count k = a->nz - 1; k >= 0; k--) {
        const count row = (k * a->ny + y) * a->nx;
        const real per_dz = 1 / a->dzt[k];
        enter_level(a, &r, k);
        ALONG_X
        for (count x = cells.begin; x < cells.end; x++) {
            const count n = x - cells.begin;
            const struct where at = {.k = k,
                                     .i = row + x,
                                     .column = y * a->nx + x,
                                     .per_dz = per_dz,
                                     .dx = a->dxt[x],
                                     .dx_east = a->dxt[x + 1],
                                     .per_dxt = 1 / a->dxt[x],
                                     .per_dxu = 1 / a->dxu[x]};
            split_point(a, &r, at, &m.p[n], &m.flux_u[n], &m.flux_v[n]);
        }
    }
}

void VARIANT(momentum_terms)(const struct kernel_call *call)
{
#include "unpack.h"
    PARALLEL_COLUMNS
    for (count y = 0; y < ny; y++)
        for (count x0 = 0; x0 < nx; x0 += ROW_CHUNK) {
            const struct arguments a = {
#include "gather.h"
            };
            const struct span part = chunk(x0, nx), inside = interior(part, y, nx, ny);
            for (count k = 0; k < nz; k++) {
                const count row = (k * ny + y) * nx;
#define ZERO(name) zero_outside(name + row, part, inside);
                OUTPUTS(ZERO)
#undef ZERO
            }
            if (inside.begin < inside.end)
                split_columns(&a, y, seen(part, inside));
        }
}
