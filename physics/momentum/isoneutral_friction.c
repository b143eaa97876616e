/*
 * Friction by eddies, as vertical friction implicit in time (transformed Eulerian mean): it acts on
 * the flow that momentum has made, and leaves depth means as they are, because nothing goes through
 * the surface or the bottom. Where momentum has vertical friction of its own, this one is the
 * second of two solutions, which is not that of the sum of both viscosities; so the first one is
 * made again.
 *
 * A column goes up to eliminate the first system, down to solve it and to eliminate the second one,
 * and up to solve that. Reduced rows lie in lost_u or lost_v and in K_diss_gm. T cells get what the
 * faces lose afterwards.
 */
#define DESCRIPTION "momentum/isoneutral_friction.kernel"
#include "arguments.h"
#include "maths.h"
#include "span.h"
#include "tridiagonal.h"

#include "faces.h"

/* ---- the columns of faces ---- */

/* Columns of faces of u or v, and what levels leave for the next ones. */
struct eddy_columns {
    const real *flow;
    real *after, *lost;
    count beside;
    level wet[ROW_CHUNK];
    bool changes[ROW_CHUNK]; /* whether the step changes them: ghosts only lose */
    real next[ROW_CHUNK];    /* the flow at the level before, in the order of the sweep */
};

/* How much of the flow at level `to` a step exchanges between level k and the one above it, over
 * the viscosities of both cells. A level computes it once: compilers would divide anew in each
 * point. */
INLINED real share_of(const struct arguments *a, count k, count to)
{
    const bool is_inside = k >= 0 && k < a->nz - 1;
    return is_inside ? a->dt_mom / (2 * a->dzw[k < 0 ? 0 : k] * a->dzt[to]) : 0;
}

INLINED real exchanged(const struct arguments *a, const struct eddy_columns *m,
                       const real *viscosity, real share, count k, count i, level wet)
{
    const count at = k < 0 ? i + a->ny * a->nx : i;
    const real through = share * (viscosity[at] + viscosity[at + m->beside]);
    return wet <= (level)k ? through : 0;
}

INLINED void eliminate_upwards(const struct arguments *a, const struct eddy_columns *m, count y,
                               struct span cells)
{
    const count plane = a->ny * a->nx;
    const real has_first = a->enable_implicit_vert_friction ? 1 : 0;
    for (count k = 0; k < a->nz; k++) {
        const count row = k * plane + y * a->nx;
        const real through_floor = has_first * share_of(a, k - 1, k);
        const real through_top = has_first * share_of(a, k, k);
        ALONG_X
        for (count x = cells.begin; x < cells.end; x++) {
            const count i = row + x, below = k > 0 ? i - plane : i;
            const level wet = m->wet[x - cells.begin];
            const real ratio = m->lost[below], d = a->K_diss_gm[below];
            const struct reduced_row under = {k > 0 ? ratio : 0, k > 0 ? d : 0};
            const struct reduced_row reduced = eliminate(
                (struct tridiagonal_row){
                    .a = -exchanged(a, m, a->kappaM, through_floor, k - 1, i - plane, wet),
                    .excess = 1,
                    .c = -exchanged(a, m, a->kappaM, through_top, k, i, wet),
                    .d = m->flow[i]},
                under);
            m->lost[i] = reduced.ratio;
            a->K_diss_gm[i] = reduced.d;
        }
    }
}

/* The rows of the second system are taken from the top, so that their `a` is of the level above. */
INLINED void substitute_downwards(const struct arguments *a, struct eddy_columns *m, count y,
                                  struct span cells)
{
    const count plane = a->ny * a->nx;
    for (count k = a->nz - 1; k >= 0; k--) {
        const count row = k * plane + y * a->nx;
        const bool is_top = k == a->nz - 1;
        const real through_top = share_of(a, k, k), through_floor = share_of(a, k - 1, k);
        ALONG_X
        for (count x = cells.begin; x < cells.end; x++) {
            const count i = row + x, at = x - cells.begin, above = is_top ? i : i + plane;
            const level wet = m->wet[at];
            const real mixed =
                substitute((struct reduced_row){m->lost[i], a->K_diss_gm[i]}, m->next[at]);
            const real ratio = m->lost[above], d = a->K_diss_gm[above];
            const struct reduced_row before = {is_top ? 0 : ratio, is_top ? 0 : d};
            const struct reduced_row reduced = eliminate(
                (struct tridiagonal_row){
                    .a = -exchanged(a, m, a->kappa_gm, through_top, k, i, wet),
                    .excess = 1,
                    .c = -exchanged(a, m, a->kappa_gm, through_floor, k - 1, i - plane, wet),
                    .d = mixed},
                before);
            m->next[at] = mixed;
            m->lost[i] = reduced.ratio;
            a->K_diss_gm[i] = reduced.d;
            m->after[i] -= m->changes[at] && wet <= (level)k ? mixed : 0;
        }
    }
}

/* And finds what is lost between a level and the one below it. */
INLINED void substitute_upwards(const struct arguments *a, struct eddy_columns *m, count y,
                                struct span cells)
{
    const count plane = a->ny * a->nx;
    for (count k = 0; k < a->nz; k++) {
        const count row = k * plane + y * a->nx, below = k > 0 ? plane : 0;
        const real per_dz = k > 0 ? 1 / a->dzw[k - 1] : 0;
        ALONG_X
        for (count x = cells.begin; x < cells.end; x++) {
            const count i = row + x, at = x - cells.begin, j = i - below;
            const level wet = m->wet[at];
            const real under = k > 0 ? m->next[at] : 0;
            const real now = substitute((struct reduced_row){m->lost[i], a->K_diss_gm[i]}, under);
            const real viscosity = (a->kappa_gm[j] + a->kappa_gm[j + m->beside]) / 2;
            const real lost =
                viscosity * per_dz * (now - under) * per_dz * (m->flow[i] - m->flow[j]);
            m->next[at] = now;
            m->after[i] += m->changes[at] && wet <= (level)k ? now : 0;
            if (k > 0)
                m->lost[j] = wet < (level)k ? lost : 0;
        }
    }
    const count top = ((a->nz - 1) * a->ny + y) * a->nx;
    ALONG_X
    for (count x = cells.begin; x < cells.end; x++)
        m->lost[top + x] = 0;
}

/* The columns of a part of a row, those at its western ghosts included. */
INLINED void rub_by_eddies(const struct arguments *a, count y, struct span part, bool is_u)
{
    const struct span faces = within(part, true, 1, a->nx - 2);
    const struct span cells = seen(part, faces);
    if (faces.begin == faces.end)
        return;
    struct eddy_columns m = {.flow = is_u ? a->u : a->v,
                             .after = is_u ? a->u_taup1 : a->v_taup1,
                             .lost = is_u ? a->lost_u : a->lost_v,
                             .beside = is_u ? 1 : a->nx};
    ALONG_X
    for (count x = cells.begin; x < cells.end; x++) {
        const int32_t *const kbot = a->kbot + y * a->nx + x;
        m.wet[x - cells.begin] = both_wet(kbot[0], kbot[m.beside]);
        m.changes[x - cells.begin] = y >= MINIAPP_HALO && x >= MINIAPP_HALO;
        m.next[x - cells.begin] = 0;
    }
    eliminate_upwards(a, &m, y, cells);
    substitute_downwards(a, &m, y, cells);
    substitute_upwards(a, &m, y, cells);
}

/* ---- T cells ---- */

INLINED real viscosity_by_eddies(const struct arguments *a, count i, count column)
{
    const real f = a->coriolis_t[column];
    return a->K_gm[i] * smaller((real)0.01, f * f / larger((real)1e-9, a->Nsqr[i])) * a->maskW[i];
}

INLINED real share_losses(const struct arguments *a, count y, count x, count i)
{
    const real per_area = 1 / (2 * a->cost[y] * a->dyt[y]);
    const real of_v = a->cosu[y] * a->dyu[y] * a->lost_v[i] +
                      a->cosu[y - 1] * a->dyu[y - 1] * a->lost_v[i - a->nx];
    const real of_u = a->dxu[x] * a->lost_u[i] + a->dxu[x - 1] * a->lost_u[i - 1];
    return of_u / (2 * a->dxt[x]) + per_area * of_v;
}

void VARIANT(isoneutral_friction)(const struct kernel_call *call)
{
#include "unpack.h"
    PARALLEL_ROWS
    for (count k = 0; k < nz; k++)
        for (count y = 0; y < ny; y++)
            for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
                const struct arguments a = {
#include "gather.h"
                };
                ALONG_X
                for (count x = x0; x < x0 + ROW_PART(nx); x++)
                    kappa_gm[(k * ny + y) * nx + x] =
                        viscosity_by_eddies(&a, (k * ny + y) * nx + x, y * nx + x);
            }
    PARALLEL_COLUMNS
    for (count y = 1; y < ny - 2; y++)
        for (count x0 = 0; x0 < nx; x0 += ROW_CHUNK) {
            const struct arguments a = {
#include "gather.h"
            };
            rub_by_eddies(&a, y, chunk(x0, nx), true);
        }
    PARALLEL_COLUMNS
    for (count y = 1; y < ny - 2; y++)
        for (count x0 = 0; x0 < nx; x0 += ROW_CHUNK) {
            const struct arguments a = {
#include "gather.h"
            };
            rub_by_eddies(&a, y, chunk(x0, nx), false);
        }
    PARALLEL_ROWS
    for (count k = 0; k < nz; k++)
        for (count y = 0; y < ny; y++)
            for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
                const struct arguments a = {
#include "gather.h"
                };
                const count row = (k * ny + y) * nx;
                const struct span part = {x0, x0 + ROW_PART(nx)};
                const struct span inside = interior(part, y, nx, ny);
                const real conserves = enable_conserve_energy ? 1 : 0;
                zero_outside(K_diss_gm + row, part, inside);
                ALONG_X
                for (count x = inside.begin; x < inside.end; x++)
                    K_diss_gm[row + x] = conserves * share_losses(&a, y, x, row + x);
            }
}
