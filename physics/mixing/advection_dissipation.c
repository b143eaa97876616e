/*
 * The dynamic enthalpy that advection dissipates, which depends on the scheme: the loss by the
 * advection of temperature and salinity, less the advection of dynamic enthalpy itself and the work
 * of the vertical velocity against density,
 *
 *     -g / rho_0 (int_drhodT dtemp + int_drhodS dsalt) - dHd - g / rho_0 w rho,
 *
 * on the W grid. Single cells may also gain. So, as in Veros, the total is spread evenly over the
 * surface level and all water that has turbulent energy: P_diss_adv is the same number everywhere
 * there, and 0 elsewhere.
 *
 * The loss and the volume are first added up over each column, in which the loss of a level is
 * weighted by the parts of it that the W cells hold. The columns are then added exactly, so that
 * the sums do not depend on the number of threads, or on how the ocean is cut into blocks.
 */
#define DESCRIPTION "mixing/advection_dissipation.kernel"
#include "eos/expansion.h"
#include "exact_sum.h"
#include "rows.h"
#include "span.h"
#include "tracer_advection.h"

#include <stdbool.h>

/* A level: the weights of the work through its floor and its top; the heights of the parts of it
 * that belong to the W cell at its top (half), to the one at its floor (half_below) and, if no
 * water lies below, to the former in addition (beneath); and the height of the W cell. */
struct loss_level {
    real floor_work, top_work;
    real half, half_below, beneath;
    real height;
};

INLINED struct loss_level level_at(const real *dzt, const real *dzw, count k, count top)
{
    const count below = k > 0 ? k - 1 : 0;
    const real work = (real)(GRAVITY / RHO_0 / 4) / dzt[k];
    return (struct loss_level){
        .floor_work = k > 0 ? work * dzw[below] : 0,
        .top_work = k < top ? work * dzw[k] : 0,
        .half = dzw[k] / 2,
        .half_below = k > 0 ? dzw[below] / 2 : 0,
        .beneath = k < top ? dzw[below] / 2 : 0,
        .height = k < top ? dzw[k] : dzw[k] / 2,
    };
}

/* The loss of a cell. */
INLINED real advective_loss(const struct arguments *a, const struct advection_row *r, struct cell c,
                            struct loss_level l, bool is_limited)
{
    const count i = c.i, j = c.i - c.below;
    const real of_enthalpy = advective_tendency(a, r, a->Hd, c, is_limited);
    const real by_tracers = a->int_drhodT[i] * a->dtemp[i] + a->int_drhodS[i] * a->dsalt[i];
    const real work = l.floor_work * a->w[j] * (a->rho[j] + a->rho[i]) +
                      l.top_work * a->w[i] * (a->rho[i] + a->rho[i + c.above]);
    return (real)(-GRAVITY / RHO_0) * by_tracers - of_enthalpy - work;
}

/* Adds a level to a row of columns: its loss, and the volume over which the loss is spread. */
INLINED void add_level(const struct arguments *a, struct loss_level l, count k, count y,
                       struct span inside, bool is_limited)
{
    if (inside.begin == inside.end)
        return;
    const struct advection_row r = advection_row(a, k, y);
    ALONG_X
    for (count x = inside.begin; x < inside.end; x++) {
        const struct cell c = cell_at(a->nx, a->ny, a->nz, k, y, x);
        const real lost_here = advective_loss(a, &r, c, l, is_limited);
        const count column = y * a->nx + x, lowest = a->kbot[column] - 1;
        const real is_wet = lowest >= 0 && k >= lowest;
        const real is_wet_below = lowest >= 0 && k > lowest;
        const real held = a->maskW[c.i] * (is_wet * l.half + (is_wet - is_wet_below) * l.beneath) +
                          a->maskW[c.i - c.below] * is_wet_below * l.half_below;
        const real is_spread = k == a->nz - 1 || a->tke[c.i] > 0;
        const real area = a->dxt[x] * (a->cost[y] * a->dyt[y]);
        const real lost_below = k > 0 ? a->lost[column] : 0;
        const real volume_below = k > 0 ? a->volume[column] : 0;
        a->lost[column] = lost_below + area * held * lost_here;
        a->volume[column] = volume_below + area * a->maskW[c.i] * is_spread * l.height;
    }
}

static void VARIANT(sum_columns)(const struct kernel_call *call)
{
#include "unpack.h"
    const count rows = rows_together(ny);

    PARALLEL_COLUMNS
    for (count y0 = 0; y0 < ny; y0 += rows)
        for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
            const struct arguments a = {
#include "gather.h"
            };
            const struct span part = {x0, x0 + ROW_PART(nx)};
            for (count k = 0; k < nz; k++) {
                const struct loss_level l = level_at(dzt, dzw, k, nz - 1);
                for (count y = y0; y < y0 + rows_left(rows, y0, ny); y++) {
                    const struct span inside = interior(part, y, nx, ny);
                    if (enable_superbee_advection)
                        add_level(&a, l, k, y, inside, true);
                    else
                        add_level(&a, l, k, y, inside, false);
                }
            }
        }
}

/* Each meridian's largest loss and volume. */
static void VARIANT(find_largest)(const struct kernel_call *call)
{
#include "unpack.h"
    double *const rows = (double *)meridians;
    const count once = 1;

    PARALLEL_COLUMNS
    for (count turn = 0; turn < once; turn++)
        for (count x0 = 0; x0 < nx; x0 += ROW_CHUNK) {
            const struct span part = chunk(x0, nx);
            double most_lost[ROW_CHUNK] = {0}, most_volume[ROW_CHUNK] = {0};
            for (count y = MINIAPP_HALO; y < ny - MINIAPP_HALO; y++)
                ALONG_X
            for (count x = part.begin; x < part.end; x++) {
                const double loss = (double)lost[y * nx + x], held = (double)volume[y * nx + x];
                const double size = loss < 0 ? -loss : loss;
                most_lost[x - x0] = most_lost[x - x0] < size ? size : most_lost[x - x0];
                most_volume[x - x0] = most_volume[x - x0] < held ? held : most_volume[x - x0];
            }
            for (count x = part.begin; x < part.end; x++) {
                rows[x] = most_lost[x - x0];
                rows[nx + x] = most_volume[x - x0];
            }
        }
}

/* Each meridian's sums, in parts: those of losses, then those of volumes. */
static void VARIANT(sum_meridians)(const struct kernel_call *call, double lost_cutter,
                                   double volume_cutter)
{
#include "unpack.h"
    double *const rows = (double *)meridians;
    const count once = 1;

    PARALLEL_COLUMNS
    for (count turn = 0; turn < once; turn++)
        for (count x0 = 0; x0 < nx; x0 += ROW_CHUNK) {
            const struct span part = chunk(x0, nx);
            double lost_0[ROW_CHUNK] = {0}, lost_1[ROW_CHUNK] = {0}, lost_2[ROW_CHUNK] = {0};
            double volume_0[ROW_CHUNK] = {0}, volume_1[ROW_CHUNK] = {0}, volume_2[ROW_CHUNK] = {0};
            for (count y = MINIAPP_HALO; y < ny - MINIAPP_HALO; y++)
                ALONG_X
            for (count x = part.begin; x < part.end; x++) {
                const count column = y * nx + x, i = x - x0;
                add_exactly(&lost_0[i], &lost_1[i], &lost_2[i], (double)lost[column], lost_cutter);
                add_exactly(&volume_0[i], &volume_1[i], &volume_2[i], (double)volume[column],
                            volume_cutter);
            }
            for (count x = part.begin; x < part.end; x++) {
                const count i = x - x0;
                rows[x] = lost_0[i];
                rows[1 * nx + x] = lost_1[i];
                rows[2 * nx + x] = lost_2[i];
                rows[3 * nx + x] = volume_0[i];
                rows[4 * nx + x] = volume_1[i];
                rows[5 * nx + x] = volume_2[i];
            }
        }
}

/* The loss per unit of volume, of the whole ocean. The scratch `meridians` has eight floats for
 * each column and at least five rows of columns: that is room for six rows of double. */
static real VARIANT(mean_loss)(const struct kernel_call *call)
{
#include "unpack.h"
    const double *const rows = (const double *)meridians;
    double most[2 + 1], sums[2 * SUM_PARTS + 1];
    VARIANT(find_largest)(call);
    total_of_rows(call, rows, false, most, 2);
    VARIANT(sum_meridians)(call, first_cutter(most[0]), first_cutter(most[1]));
    total_of_rows(call, rows, true, sums, 2 * SUM_PARTS);
    const double all_lost = sum_of_parts(sums), all_volume = sum_of_parts(sums + SUM_PARTS);
    return enable_conserve_energy && all_volume > 0 ? (real)(all_lost / all_volume) : 0;
}

static void VARIANT(spread)(const struct kernel_call *call, real rate)
{
#include "unpack.h"
    PARALLEL_ROWS
    for (count z = 0; z < nz; z++)
        for (count y = 0; y < ny; y++)
            for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
                const count row = (z * ny + y) * nx;
                const struct span part = {x0, x0 + ROW_PART(nx)};
                const struct span inside = interior(part, y, nx, ny);
                zero_outside(P_diss_adv + row, part, inside);
                ALONG_X
                for (count x = inside.begin; x < inside.end; x++) {
                    const bool is_spread = z == nz - 1 || tke[row + x] > 0;
                    P_diss_adv[row + x] = is_spread ? maskW[row + x] * rate : 0;
                }
            }
}

void VARIANT(advection_dissipation)(const struct kernel_call *call)
{
    VARIANT(sum_columns)(call);
    VARIANT(spread)(call, VARIANT(mean_loss)(call));
}
