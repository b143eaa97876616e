/*
 * The surface pressure over rho_0 that makes the flow after a step free of divergence, but for what
 * raises the surface: backward Euler for the waves of a free surface. In each cell, times its area,
 *
 *     area psi / (g dt_mom dt_tracer) - the sum over its sides of height width dpsi / distance
 *
 * equals what flows in over dt_mom, and the first term of the step before.
 */
#define DESCRIPTION "external/surface_pressure.kernel"
#include "constants.h"
#include "faces.h"
#include "solve.h"
#include "span.h"

/* The couplings of the finest level, from arrays of 0. Cell (i, j) has ghosts to its west and
 * south. */
static void VARIANT(couple_pressure)(const struct kernel_call *call, const struct elliptic *e)
{
#include "unpack.h"
    const count cells_x = e->level->nx, cells_y = e->level->ny, stride = e->level->stride;
    double *const east = e->east, *const north = e->north, *const excess = e->excess;
    const count cyclic = call->cyclic_x && cells_x > 1;
    PARALLEL_COLUMNS
    for (count j = 1; j <= cells_y; j++)
        for (count i0 = 1; i0 <= cells_x; i0 += ROW_PART(cells_x)) {
            const count end = i0 + ROW_PART(cells_x), y = j + MINIAPP_HALO - 1;
            for (count k = nz; k > 0; k--) {
                ALONG_X
                for (count i = i0; i < end; i++) {
                    const count o = j * stride + i, c = y * nx + i + MINIAPP_HALO - 1;
                    const double height = (double)dzt[k - 1];
                    east[o] += is_open_between(k, kbot[c], kbot[c + 1]) ? height : 0;
                    north[o] += is_open_between(k, kbot[c], kbot[c + nx]) ? height : 0;
                }
            }
            ALONG_X
            for (count i = i0; i < end; i++) {
                const count o = j * stride + i, x = i + MINIAPP_HALO - 1;
                const double width = (double)dxt[x], depth = (double)dyt[y];
                const double cosine = (double)cost[y];
                const double area_per_wave =
                    width * depth * cosine / (GRAVITY * (double)dt_mom * (double)dt_tracer);
                const double over_east = (double)dxu[x] * cosine;
                east[o] = i < cells_x || cyclic ? east[o] * depth / over_east : 0;
                north[o] = j < cells_y ? north[o] * (double)cosu[y] * width / (double)dyu[y] : 0;
                excess[o] = kbot[y * nx + x] > 0 ? area_per_wave : 0;
            }
            CLOSE_RING(east + j * stride, cells_x, i0, end);
        }
}

/* The right-hand side, and a first guess by extrapolation in time. Returns the largest right-hand
 * side over the diagonal. */
static double VARIANT(start_pressure)(const struct kernel_call *call, const struct elliptic *e)
{
#include "unpack.h"
    const count cells_x = e->level->nx, cells_y = e->level->ny, stride = e->level->stride;
    const double *const east = e->east, *const north = e->north, *const excess = e->excess;
    const float *const root = e->level->root;
    double *const b = e->b, *const guess = e->x, per_dt = 1 / (double)dt_mom;
    int64_t largest = 0;
    PARALLEL_COLUMNS_MAX(largest, cells_x * cells_y)
    for (count j = 1; j <= cells_y; j++)
        for (count i0 = 1; i0 <= cells_x; i0 += ROW_PART(cells_x)) {
            const count end = i0 + ROW_PART(cells_x), y = j + MINIAPP_HALO - 1;
            const double cosine = (double)cost[y];
            int64_t most = 0;
            ALONG_X_MAX(most)
            for (count i = i0; i < end; i++) {
                const count o = j * stride + i, x = i + MINIAPP_HALO - 1, c = y * nx + x;
                const double out = east[o] * (double)dxu[x] * u_mean[c];
                const double in = east[o - 1] * (double)dxu[x - 1] * u_mean[c - 1];
                const double up = north[o] * (double)dyu[y] * v_mean[c];
                const double down = north[o - stride] * (double)dyu[y - 1] * v_mean[c - nx];
                b[o] = excess[o] * psi[c] - per_dt * (cosine * (out - in) + (up - down));
                guess[o] = kbot[c] > 0 ? 2 * psi[c] - psi_taum1[c] : 0;
                const int64_t size = size_of(b[o], root[o]);
                most = size > most ? size : most;
            }
            largest = most > largest ? most : largest;
            CLOSE_RING(guess + j * stride, cells_x, i0, end);
        }
    return number_from(largest);
}

static void VARIANT(write_pressure)(const struct kernel_call *call, const struct elliptic *e,
                                    double factor)
{
#include "unpack.h"
    const count stride = e->level->stride;
    const double *const solution = e->x;
    PARALLEL_COLUMNS
    for (count y = 0; y < ny; y++)
        for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
            const count j = y - MINIAPP_HALO + 1;
            const bool is_row = y >= MINIAPP_HALO && y < ny - MINIAPP_HALO;
            ALONG_X
            for (count x = x0; x < x0 + ROW_PART(nx); x++) {
                const count i = x - MINIAPP_HALO + 1;
                const bool is_inside = is_row && x >= MINIAPP_HALO && x < nx - MINIAPP_HALO;
                psi_taup1[y * nx + x] = is_inside ? factor * solution[j * stride + i] : 0;
            }
        }
}

/* Makes what all steps share; NULL if that fails. */
static struct elliptic *VARIANT(prepare_pressure)(const struct kernel_call *call)
{
    struct elliptic *const e = call->keeper->take_host(call->keeper->context, sizeof(*e));
    if (!e || !take_problem(call, e))
        return NULL;
    VARIANT(couple_pressure)(call, e);
    double *const couplings = copy_of(call, e->east, 4 * (size_t)elements_of(e->level));
    return VARIANT(finish_problem)(call, e, couplings) ? e : NULL;
}

void VARIANT(surface_pressure)(const struct kernel_call *call)
{
#include "unpack.h"
    struct elliptic *e = call->keeper->recall(call->keeper->context);
    if (!e)
        e = VARIANT(prepare_pressure)(call);
    if (!e) {
        call->keeper->lack_memory(call->keeper->context);
        return;
    }
    const double largest = VARIANT(start_pressure)(call, e);
    const double factor =
        VARIANT(solve_elliptic)(call, e, (double)solver_tolerance, largest, false);
    VARIANT(write_pressure)(call, e, factor);
}
