/*
 * What advection dissipates of dynamic enthalpy, which is the scheme's affair: the loss by the
 * advection of temperature and salinity, less the advection of dynamic enthalpy itself and the work
 * of the vertical velocity against density,
 *
 *     -g / rho_0 (int_drhodT dtemp + int_drhodS dsalt) - dHd - g / rho_0 w rho,
 *
 * on the W grid. A cell may as well gain. So, as in Veros, the sum is spread evenly over the water
 * that has turbulent energy and the surface: P_diss_adv is one number there, and 0 elsewhere.
 *
 * Both sums are made in an order that does not depend on the number of threads: first columns,
 * where a level's loss counts with as much as the W cells hold of it; then the columns of each
 * meridian; and last the meridians, one after the other. Where the ocean is cut into blocks, a
 * block goes on from the sums of the one to the south, and the northernmost ones from that to the
 * west: the order, and so the sum, stays the same.
 */
#include "carry.h"
#include "eos/expansion.h"
#include "span.h"
#include "tracer_advection.h"

#include <stdbool.h>

#define DESCRIPTIONS "mixing/advection_dissipation.kernel"

/* What the loss is made of. */
struct enthalpy {
    const real *Hd, *rho, *int_drhodT, *int_drhodS, *dtemp, *dsalt, *tke;
};

/* A level: what the work through its floor and its top counts with; how much of it the W cell at
 * its top holds, the one at its floor, and, if nothing lies below, the former in addition; and the
 * height of the W cell. */
struct level {
    real floor_work, top_work;
    real half, half_below, beneath;
    real height;
};

INLINED struct level level_at(const real *dzt, const real *dzw, ptrdiff_t k, ptrdiff_t top)
{
    const ptrdiff_t below = k > 0 ? k - 1 : 0;
    const real work = (real)(GRAVITY / RHO_0 / 4) / dzt[k];
    return (struct level){
        .floor_work = k > 0 ? work * dzw[below] : 0,
        .top_work = k < top ? work * dzw[k] : 0,
        .half = dzw[k] / 2,
        .half_below = k > 0 ? dzw[below] / 2 : 0,
        .beneath = k < top ? dzw[below] / 2 : 0,
        .height = k < top ? dzw[k] : dzw[k] / 2,
    };
}

/* The loss of a cell. */
INLINED real loss(const struct enthalpy *e, const struct flow *f, struct cell c, struct level l,
                  bool is_limited)
{
    const ptrdiff_t i = c.i, j = c.i - c.below;
    const real by_tracers = e->int_drhodT[i] * e->dtemp[i] + e->int_drhodS[i] * e->dsalt[i];
    const real work = l.floor_work * f->w[j] * (e->rho[j] + e->rho[i]) +
                      l.top_work * f->w[i] * (e->rho[i] + e->rho[i + c.above]);
    return (real)(-GRAVITY / RHO_0) * by_tracers - advective_tendency(f, e->Hd, c, is_limited) -
           work;
}

/* A level of a row of columns: adds what is lost, and the volume over which it is spread. */
INLINED void add_level(const struct enthalpy *e, const struct flow *f, struct level l,
                       const int32_t *kbot, real *lost, real *volume, ptrdiff_t ny, ptrdiff_t k,
                       ptrdiff_t y, struct span inside, bool is_limited)
{
    ALONG_X
    for (ptrdiff_t x = inside.begin; x < inside.end; x++) {
        const struct cell c = cell_at(f->nx, ny, f->nz, k, y, x);
        const ptrdiff_t column = y * f->nx + x, lowest = kbot[column] - 1;
        const real is_wet = lowest >= 0 && k >= lowest;
        const real is_wet_below = lowest >= 0 && k > lowest;
        const real held = f->maskW[c.i] * (is_wet * l.half + (is_wet - is_wet_below) * l.beneath) +
                          f->maskW[c.i - c.below] * is_wet_below * l.half_below;
        const real is_spread = k == f->nz - 1 || e->tke[c.i] > 0;
        const real area = f->dxt[x] * (f->cost[y] * f->dyt[y]);
        const real lost_below = k > 0 ? lost[column] : 0;
        const real volume_below = k > 0 ? volume[column] : 0;
        lost[column] = lost_below + area * held * loss(e, f, c, l, is_limited);
        volume[column] = volume_below + area * f->maskW[c.i] * is_spread * l.height;
    }
}

static void VARIANT(sum_columns)(const struct kernel_call *call)
{
#include "unpack.h"
    const count rows = ROWS_TOGETHER(ny);

    SLABS(first, end, ny, nx)
    PARALLEL_COLUMNS
    for (count y0 = first; y0 < end; y0 += rows)
        for (count x0 = 0; x0 < (count)nx; x0 += ROW_PART(nx)) {
            const struct flow f = {nx,    nz,  u,   v,   w,    maskT, maskU,    maskV,
                                   maskW, dxt, dyt, dzt, cost, cosu,  dt_tracer};
            const struct enthalpy e = {Hd, rho, int_drhodT, int_drhodS, dtemp, dsalt, tke};
            const struct span part = {x0, x0 + ROW_PART(nx)};
            for (ptrdiff_t k = 0; k < nz; k++) {
                const struct level l = level_at(dzt, dzw, k, nz - 1);
                for (ptrdiff_t y = y0; y < y0 + rows_left(rows, y0, ny); y++) {
                    const struct span inside = interior(part, y, nx, ny);
                    if (enable_superbee_advection)
                        add_level(&e, &f, l, kbot, lost, volume, ny, k, y, inside, true);
                    else
                        add_level(&e, &f, l, kbot, lost, volume, ny, k, y, inside, false);
                }
            }
        }
}

/* One row of threads: a meridian each. */
static void VARIANT(sum_meridians)(const struct kernel_call *call, bool goes_on)
{
#include "unpack.h"
    const count rows = 1;

    PARALLEL_COLUMNS
    for (count row = 0; row < rows; row++)
        for (count x0 = 0; x0 < (count)nx; x0 += ROW_PART(nx))
            for (ptrdiff_t y = MINIAPP_HALO; y < ny - MINIAPP_HALO; y++)
                ALONG_X
    for (ptrdiff_t x = x0; x < x0 + ROW_PART(nx); x++) {
        const bool is_first = y == MINIAPP_HALO && !goes_on;
        lost_along[x] = lost[y * nx + x] + (is_first ? 0 : lost_along[x]);
        volume_along[x] = volume[y * nx + x] + (is_first ? 0 : volume_along[x]);
    }
}

/* The sums over all meridians so far go to the last ghosts; what is lost of a unit of volume, to
 * the first. One thread adds: a nest of one turn, since in a region without one Clang's GPU code
 * guards the loop by a call. */
static void VARIANT(sum_all)(const struct kernel_call *call, bool goes_on)
{
#include "unpack.h"
    const count once = 1;

    PARALLEL_COLUMNS
    for (count row = 0; row < once; row++)
        for (count column = 0; column < once; column++) {
            real all_lost = goes_on ? lost_along[nx - 1] : 0;
            real all_volume = goes_on ? volume_along[nx - 1] : 0;
            for (ptrdiff_t x = MINIAPP_HALO; x < nx - MINIAPP_HALO; x++) {
                all_lost += lost_along[x];
                all_volume += volume_along[x];
            }
            lost_along[nx - 1] = all_lost;
            volume_along[nx - 1] = all_volume;
            lost_along[0] = enable_conserve_energy && all_volume > 0 ? all_lost / all_volume : 0;
        }
}

static void VARIANT(spread)(const struct kernel_call *call)
{
#include "unpack.h"
    SLABS(z0, z1, nz, ny * nx)
    SLABS(y0, y1, ny, nx)
    PARALLEL_ROWS
    for (count z = z0; z < z1; z++)
        for (count y = y0; y < y1; y++)
            for (count x0 = 0; x0 < (count)nx; x0 += ROW_PART(nx)) {
                const ptrdiff_t row = (z * ny + y) * nx;
                const struct span part = {x0, x0 + ROW_PART(nx)};
                const struct span inside = interior(part, y, nx, ny);
                const real rate = lost_along[0];
                zero_outside(P_diss_adv + row, part, inside);
                ALONG_X
                for (ptrdiff_t x = inside.begin; x < inside.end; x++) {
                    const bool is_spread = z == nz - 1 || tke[row + x] > 0;
                    P_diss_adv[row + x] = is_spread ? maskW[row + x] * rate : 0;
                }
            }
}

void VARIANT(advection_dissipation)(const struct kernel_call *call)
{
#include "unpack.h"
    real *const sums[] = {lost_along, volume_along};
    real *const totals[] = {lost_along + nx - 1, volume_along + nx - 1};
    const size_t row = (size_t)nx * sizeof(real);
    VARIANT(sum_columns)(call);
    VARIANT(sum_meridians)(call, carry_in(call, MINIAPP_SOUTH, sums, row));
    if (!carry_on(call, MINIAPP_NORTH, sums, row)) {
        VARIANT(sum_all)(call, carry_in(call, MINIAPP_WEST, totals, sizeof(real)));
        carry_on(call, MINIAPP_EAST, totals, sizeof(real));
    }
    share_result(call, lost_along, sizeof(real));
    VARIANT(spread)(call);
}
