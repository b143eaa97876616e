/*
 * Momentum after the external mode. Where that is a streamfunction, the depth mean that momentum
 * left is replaced by the streamfunction's; where it is the pressure at the surface, its gradient
 * acts on all levels for a step. The flow is corrected in one ring of ghosts, too, from which w
 * follows by continuity: at the surface it is 0 under a lid, up to rounding.
 *
 * First all faces, then all columns: w needs the new flow to the west and south.
 */
#define DESCRIPTION "momentum/barotropic_correction.kernel"
#include "arguments.h"
#include "mixing/continuity.h"
#include "rows.h"

/* The gains of the columns of u and v at a T cell, from their lowest wet levels up. */
struct gain {
    real u, v;
    int32_t lowest_u, lowest_v; /* nz without one */
};

INLINED int32_t lowest_level(const struct arguments *a, count column, count beside)
{
    const int32_t here = a->kbot[column], other = a->kbot[column + beside];
    const int32_t kbot = here > other ? here : other;
    return here > 0 && other > 0 ? kbot - 1 : (int32_t)a->nz;
}

/* 1 over the height of a column from a level up, or 0 without one. */
INLINED double per_height_from(const struct arguments *a, int32_t lowest)
{
    double height = 0;
    for (count k = a->nz - 1; k >= lowest; k--)
        height += (double)a->dzt[k];
    return lowest < (int32_t)a->nz ? 1 / height : 0;
}

INLINED struct gain gain_at(const struct arguments *a, count y, count x)
{
    const count nx = a->nx, c = y * nx + x;
    const double *const psi = a->psi_taup1 + c;
    struct gain g = {.lowest_u = lowest_level(a, c, 1), .lowest_v = lowest_level(a, c, nx)};
    if (a->enable_streamfunction) {
        const double zonal = (psi[-nx] - psi[0]) / (double)a->dyt[y];
        const double meridional = (psi[0] - psi[-1]) / ((double)a->cosu[y] * (double)a->dxt[x]);
        g.u = (real)(zonal * per_height_from(a, g.lowest_u) - a->u_mean[c]);
        g.v = (real)(meridional * per_height_from(a, g.lowest_v) - a->v_mean[c]);
    } else {
        const double dt = (double)a->dt_mom, dx = (double)a->cost[y] * (double)a->dxu[x];
        g.u = (real)(-dt * (psi[1] - psi[0]) / dx);
        g.v = (real)(-dt * (psi[nx] - psi[0]) / (double)a->dyu[y]);
    }
    return g;
}

/* The cells of a part of row y that have a neighbour on each side. */
INLINED struct span with_ring(const struct arguments *a, count y, struct span part)
{
    return within(part, y > 0 && y < a->ny - 1, 1, a->nx - 1);
}

INLINED void correct_row(const struct arguments *a, count y, struct span part)
{
    const count nx = a->nx;
    const struct span inside = with_ring(a, y, part);
    real gain_u[ROW_CHUNK], gain_v[ROW_CHUNK];
    int32_t lowest_u[ROW_CHUNK], lowest_v[ROW_CHUNK];
    for (count x = part.begin; x < part.end; x++) {
        const bool has_gain = x >= inside.begin && x < inside.end;
        const struct gain gain = has_gain ? gain_at(a, y, x) : (struct gain){0};
        gain_u[x - part.begin] = gain.u;
        gain_v[x - part.begin] = gain.v;
        lowest_u[x - part.begin] = gain.lowest_u;
        lowest_v[x - part.begin] = gain.lowest_v;
    }
    for (count k = 0; k < a->nz; k++) {
        const count row = (k * a->ny + y) * nx;
        ALONG_X
        for (count x = part.begin; x < part.end; x++) {
            const count at = x - part.begin;
            a->u_taup1[row + x] += lowest_u[at] <= (int32_t)k ? gain_u[at] : 0;
            a->v_taup1[row + x] += lowest_v[at] <= (int32_t)k ? gain_v[at] : 0;
        }
        zero_outside(a->u_taup1 + row, part, inside);
        zero_outside(a->v_taup1 + row, part, inside);
    }
}

void VARIANT(barotropic_correction)(const struct kernel_call *call)
{
#include "unpack.h"
    PARALLEL_COLUMNS
    for (count y = 0; y < ny; y++)
        for (count x0 = 0; x0 < nx; x0 += ROW_CHUNK) {
            const struct arguments a = {
#include "gather.h"
            };
            correct_row(&a, y, chunk(x0, nx));
        }
    const count rows = rows_together(ny);
    PARALLEL_COLUMNS
    for (count y = 0; y < ny; y += rows)
        for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
            const struct span part = {x0, x0 + ROW_PART(nx)};
            upward(w_taup1, u_taup1, v_taup1, maskW, dzt, dxt, dyt, cost, cosu, part, y,
                   y + rows_left(rows, y, ny), nx, ny, nz, false);
        }
}
