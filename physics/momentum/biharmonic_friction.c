/*
 * Biharmonic lateral friction, its second half (flow_laplacian is the first): it acts for a step
 * forward on the flow that momentum has made, and on the depth means from which the external mode
 * is solved. Its dissipation replaces that of harmonic friction, as in Veros, and can be negative
 * in places.
 *
 * A T cell gets its shares of what the faces on both of its sides lose, first those of u, then
 * those of v. The loss of the face to the west or south is computed again for that.
 */
#define DESCRIPTION "momentum/biharmonic_friction.kernel"
#include "arguments.h"
#include "span.h"

#include "biharmonic.h"

/* A chunk of a row: its cells' own faces of u or v, and those on the other side. */
struct columns {
    struct face_row own, before;
    real lost[ROW_CHUNK], lost_before[ROW_CHUNK];  /* at the level above */
    double height[ROW_CHUNK], tendency[ROW_CHUNK]; /* sums */
};

/* The fields of u or v. */
struct component {
    const real *flow, *del2;
    real *after;
    double *tendency_mean, *flow_mean;
    count before; /* from a face to the one on the other side of the T cell */
};

INLINED struct component component_of(const struct arguments *a, bool is_u)
{
    if (is_u)
        return (struct component){a->u, a->del2_u, a->u_taup1, a->du_mean, a->u_mean, 1};
    return (struct component){a->v, a->del2_v, a->v_taup1, a->dv_mean, a->v_mean, a->nx};
}

INLINED void rub_row(const struct arguments *a, const struct component *c, struct columns *m,
                     bool is_u, count k, count y, struct span cells)
{
    const count row = (k * a->ny + y) * a->nx;
    const real conserves = a->enable_conserve_energy ? 1 : 0;
    const real back = k < a->nz - 1 ? a->dzw[k > 0 ? k - 1 : 0] / (2 * a->dzw[k]) : 0;
    const real per_area = 1 / (2 * a->cost[y] * a->dyt[y]);
    const real share_v = a->cosu[y] * a->dyu[y] * per_area;
    const real share_v_south = a->cosu[y - 1] * a->dyu[y - 1] * per_area;
    ALONG_X
    for (count x = cells.begin; x < cells.end; x++) {
        const count at = x - cells.begin, i = row + x;
        real lost, lost_before;
        const real spread = spread_one(a, &m->own, c->del2, c->flow, k, i, at, &lost);
        spread_one(a, &m->before, c->del2, c->flow, k, i - c->before, at, &lost_before);
        const real own = on_wgrid(a, k, back, m->own.deep[at], lost, m->lost[at]);
        const real before =
            on_wgrid(a, k, back, m->before.deep[at], lost_before, m->lost_before[at]);
        const real dissipated = is_u ? (a->dxu[x] * own + a->dxu[x - 1] * before) / (2 * a->dxt[x])
                                     : share_v * own + share_v_south * before;
        m->lost[at] = lost;
        m->lost_before[at] = lost_before;
        m->height[at] += m->own.here[at] <= (level)k ? (double)a->dzt[k] : 0;
        m->tendency[at] -= (double)a->dzt[k] * (double)spread;
        c->after[i] -= a->dt_mom * spread;
        a->K_diss_h[i] = (is_u ? 0 : a->K_diss_h[i]) - conserves * dissipated;
    }
}

INLINED void rub_columns(const struct arguments *a, bool is_u, count y, struct span cells)
{
    const struct component c = component_of(a, is_u);
    struct columns m;
    fill_face_row(a, &m.own, is_u, y, 0, cells);
    fill_face_row(a, &m.before, is_u, is_u ? y : y - 1, is_u ? 1 : 0, cells);
    for (count at = 0; at < cells.end - cells.begin; at++)
        m.lost[at] = m.lost_before[at] = m.height[at] = m.tendency[at] = 0;
    for (count k = a->nz - 1; k >= 0; k--)
        rub_row(a, &c, &m, is_u, k, y, cells);
    ALONG_X
    for (count x = cells.begin; x < cells.end; x++) {
        const count at = x - cells.begin, column = y * a->nx + x;
        const double mean = mean_of(m.tendency[at], m.height[at]);
        c.tendency_mean[column] += mean;
        c.flow_mean[column] += (double)a->dt_mom * mean;
    }
}

void VARIANT(biharmonic_friction)(const struct kernel_call *call)
{
#include "unpack.h"
    PARALLEL_COLUMNS
    for (count y = 0; y < ny; y++)
        for (count x0 = 0; x0 < nx; x0 += ROW_CHUNK) {
            const struct arguments a = {
#include "gather.h"
            };
            const struct span part = chunk(x0, nx), inside = interior(part, y, nx, ny);
            for (count k = 0; k < nz; k++)
                zero_outside(K_diss_h + (k * ny + y) * nx, part, inside);
            if (inside.begin == inside.end)
                continue;
            const struct span cells = seen(part, inside);
            rub_columns(&a, true, y, cells);
            rub_columns(&a, false, y, cells);
        }
}
