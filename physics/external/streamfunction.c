/*
 * The streamfunction's tendency, whose flow has the same vorticity as the depth mean of the
 * tendency of momentum, and as much circulation around each island; then the streamfunction itself,
 * by Adams and Bashforth's scheme.
 *
 * The equation of a corner is the circulation around it: through each face that lies beside, a flow
 * of the difference of two corners over the face's height. It holds at corners in water. Those of a
 * coast share one value, and the sum of their equations holds. Modes make it hold: solutions
 * without a right-hand side, constant on each coast, which are found once. They are orthonormal in
 * energy, the product of one with the matrix times the other, so each gains its product with what
 * the equations of coasts leave.
 */
#define DESCRIPTION "external/streamfunction.kernel"
#include "faces.h"
#include "islands.h"
#include "solve.h"
#include "span.h"

enum { TOGETHER = 512 }; /* so that memory is read in one stretch */
_Static_assert(TOGETHER % ROW_CHUNK == 0, "a part has points of one stretch");

/* The problem, which all steps share. The couplings of e are those of all faces between water;
 * levels are made of those between corners in water, with those to coasts in the excess. Memory is
 * the device's. */
struct stream_problem {
    struct elliptic e;
    count corners, modes;    /* of coasts but the northern wall's */
    count found;             /* modes so far */
    count points;            /* those corners, then all in water, and copies in the ring */
    int32_t *point, *source; /* those; where each corner's guess is in fields */
    double *unbalanced;      /* what the equations of coasts' corners leave */
    double *mode;            /* all modes at the first TOGETHER points, and so on */
    double *amount;          /* how much of each is lacking */
    int32_t *point_on_host;
    double *on_coast; /* host: modes at coasts' corners, with room for amounts */
};

/* Faces between water, in rows 0 to ny of corners, from arrays of 0; and the water, in e's work.
 * Corner (i, j) is the north-eastern one of cell (i, j). Those with i = 0 lie on the western wall
 * of a closed ocean, which is one with the northern wall: their streamfunction is 0, as in the
 * ring. */
static void VARIANT(couple_corners)(const struct kernel_call *call, const struct elliptic *e)
{
#include "unpack.h"
    const count cells_x = e->level->nx, cells_y = e->level->ny, stride = e->level->stride;
    double *const east = e->east, *const north = e->north, *const water = e->work;
    const bool is_cyclic = call->cyclic_x;
    PARALLEL_COLUMNS
    for (count j = 0; j <= cells_y; j++)
        for (count i0 = 0; i0 <= cells_x; i0 += ROW_PART(cells_x + 1)) {
            const count end = i0 + ROW_PART(cells_x + 1), y = j + MINIAPP_HALO - 1;
            for (count k = nz; k > 0; k--) {
                ALONG_X
                for (count i = i0; i < end; i++) {
                    const count o = j * stride + i, c = y * nx + i + MINIAPP_HALO - 1;
                    const int32_t beyond = kbot[c + nx + 1];
                    const double height = (double)dzt[k - 1];
                    east[o] += is_open_between(k, kbot[c + 1], beyond) ? height : 0;
                    north[o] += is_open_between(k, kbot[c + nx], beyond) ? height : 0;
                }
            }
            ALONG_X
            for (count i = i0; i < end; i++) {
                const count o = j * stride + i, x = i + MINIAPP_HALO - 1;
                const bool is_face = j < cells_y && (i < cells_x || is_cyclic);
                const bool has_v = is_face && east[o] > 0 && j > 0 && cells_x > 1;
                const double over_v = (double)dxt[x + 1] * (double)cosu[y] * east[o];
                const double over_u = (double)dyt[y + 1] * north[o];
                const double along_u = (double)dxu[x] * (double)cost[y + 1];
                east[o] = has_v ? (double)dyu[y] / over_v : 0;
                north[o] = is_face && north[o] > 0 ? along_u / over_u : 0;
                water[o] = i > 0 && j > 0 && kbot[y * nx + x] > 0;
            }
        }
}

/* The right-hand side, the circulation of the mean tendency around each corner, and the guess, an
 * extrapolation in time: for a whole coast, that at one of its corners. Returns the largest
 * right-hand side over the diagonal. */
static double VARIANT(start_stream)(const struct kernel_call *call, const struct stream_problem *p)
{
#include "unpack.h"
    const count cells_x = p->e.level->nx, cells_y = p->e.level->ny, stride = p->e.level->stride;
    const double *const east = p->e.east, *const north = p->e.north;
    const int32_t *const source = p->source;
    const float *const root = p->e.level->root;
    double *const b = p->e.b, *const guess = p->e.x;
    int64_t largest = 0;
    PARALLEL_COLUMNS_MAX(largest, cells_x * (cells_y + 1))
    for (count j = 0; j <= cells_y; j++)
        for (count i0 = 1; i0 <= cells_x; i0 += ROW_PART(cells_x)) {
            const count end = i0 + ROW_PART(cells_x), y = j + MINIAPP_HALO - 1, row = j * stride;
            int64_t most = 0;
            ALONG_X_MAX(most)
            for (count i = i0; i < end; i++) {
                const count o = row + i, x = i + MINIAPP_HALO - 1, c = y * nx + x;
                const double v_east = east[o] > 0 ? dv_mean[c + 1] : 0;
                const double v_west = east[o - 1] > 0 ? dv_mean[c] : 0;
                const double u_north = north[o] > 0 ? du_mean[c + nx] : 0;
                const double u_south = north[o - stride] > 0 ? du_mean[c] : 0;
                b[o] = (double)dyu[y] * (v_west - v_east) +
                       (double)dxu[x] * ((double)cost[y + 1] * u_north - (double)cost[y] * u_south);
                /* Loaded, then chosen: else clang-19 does not come to an end for ARM's SVE. */
                const double next = 2 * dpsi[source[o]] - dpsi_taum1[source[o]];
                guess[o] = source[o] > 0 ? next : 0;
                const int64_t size = size_of(b[o], root[o]);
                most = size > most ? size : most;
            }
            largest = most > largest ? most : largest;
            CLOSE_RING(guess + row, cells_x, i0, end);
        }
    return number_from(largest);
}

/* The residual of x in the equations of coast corners, on the host; NULL if memory is lacking. */
static const double *VARIANT(find_unbalanced)(const struct kernel_call *call,
                                              const struct stream_problem *p)
{
    const count corners = p->corners, stride = p->e.level->stride, once = 1;
    const double *const east = p->e.east, *const north = p->e.north, *const excess = p->e.excess;
    const double *const b = p->e.b, *const x = p->e.x;
    const int32_t *const point = p->point;
    double *const unbalanced = p->unbalanced;
    PARALLEL_COLUMNS
    for (count turn = 0; turn < once; turn++)
        for (count first = 0; first < corners; first += ROW_PART(corners)) {
            ALONG_X
            for (count n = first; n < first + ROW_PART(corners); n++) {
                const count o = point[n];
                unbalanced[n] = b[o] + LEFT_OF(x);
            }
        }
    return call->totals->on_host(call->totals->context, unbalanced, (size_t)corners);
}

/* Adds what is lacking of each mode. */
static void VARIANT(add_modes)(const struct stream_problem *p)
{
    const count points = p->points, modes = p->modes, found = p->found;
    const count turns = (points + TOGETHER - 1) / TOGETHER;
    const int32_t *const point = p->point;
    const double *const amount = p->amount, *const mode = p->mode;
    double *const x = p->e.x;
    PARALLEL_COLUMNS
    for (count turn = 0; turn < turns; turn++)
        for (count n0 = 0; n0 < TOGETHER; n0 += ROW_CHUNK) {
            const count first = turn * TOGETHER + n0;
            const count end = clamp(points - first, 0, ROW_CHUNK);
            const double *const ones = mode + (ptrdiff_t)turn * modes * TOGETHER + n0;
            double sum[ROW_CHUNK];
            for (count n = 0; n < end; n++)
                sum[n] = x[point[first + n]];
            for (count m = 0; m < found; m++) {
                ALONG_X
                for (count n = 0; n < end; n++)
                    sum[n] += amount[m] * ones[m * TOGETHER + n];
            }
            for (count n = 0; n < end; n++)
                x[point[first + n]] = sum[n];
        }
}

/* Makes the equations of all coasts hold, as far as their modes are found. */
static void VARIANT(balance_coasts)(const struct kernel_call *call, const struct stream_problem *p)
{
    if (p->found == 0)
        return;
    const double *const left = VARIANT(find_unbalanced)(call, p);
    double *const amount = p->on_coast + p->modes * p->corners;
    for (count m = 0; m < p->found; m++)
        amount[m] = 0;
    for (count n = 0; n < p->corners && left; n++)
        for (count m = 0; m < p->found; m++)
            amount[m] += p->on_coast[n * p->modes + m] * left[n];
    call->keeper->to_device(call->keeper->context, p->amount, amount,
                            (size_t)p->found * sizeof(*amount));
    VARIANT(add_modes)(p);
}

static void VARIANT(write_stream)(const struct kernel_call *call, const struct stream_problem *p,
                                  double factor)
{
#include "unpack.h"
    const count cells_x = p->e.level->nx, stride = p->e.level->stride;
    const double *const solution = p->e.x;
    const double now = (double)dt_mom * (1.5 + (double)AB_eps),
                 before = (double)dt_mom * (0.5 + (double)AB_eps);
    PARALLEL_COLUMNS
    for (count y = 0; y < ny; y++)
        for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
            ALONG_X
            for (count x = x0; x < x0 + ROW_PART(nx); x++) {
                const count j = y - MINIAPP_HALO + 1, i = x - MINIAPP_HALO + 1, c = y * nx + x;
                const bool is_inside = j >= 0 && y < ny - MINIAPP_HALO && i >= 1 && i <= cells_x;
                const double tendency = is_inside ? factor * solution[j * stride + i] : 0;
                const double change = now * tendency - before * dpsi[c];
                dpsi_taup1[c] = tendency;
                psi_taup1[c] = is_inside ? psi[c] + change : 0;
            }
        }
}

/* ---- what is found once ---- */

/* Couplings between corners in water; those to coasts become excess. */
static inline void close_coasts(const struct level *l, const int32_t *kind, struct couplings c)
{
    const count stride = l->stride, end = elements_of(l) - stride;
    for (count o = stride; o < end; o++) {
        const count beyond[] = {o + 1, o - 1, o + stride, o - stride};
        const double coupling[] = {c.east[o], c.east[o - 1], c.north[o], c.north[o - stride]};
        for (int n = 0; n < 4 && kind[o] == IN_WATER; n++)
            c.excess[o] += kind[beyond[n]] == IN_WATER ? 0 : coupling[n];
    }
    for (count o = 0; o < end; o++) {
        c.east[o] *= kind[o] == IN_WATER && kind[o + 1] == IN_WATER;
        c.north[o] *= kind[o] == IN_WATER && kind[o + stride] == IN_WATER;
    }
}

/* Lists the corners of coasts from north to south, since the southern wall lies in ghosts, then all
 * others where modes are not 0, and where each corner's guess is: 0 where the guess is 0, as along
 * the northern wall. */
static bool list_points(const struct keeper *keeper, struct stream_problem *p, const int32_t *kind,
                        count row_of_fields)
{
    const struct level *const l = p->e.level;
    const size_t elements = (size_t)elements_of(l), bytes = elements * sizeof(int32_t);
    int32_t *const source = calloc(2, bytes);
    int32_t *const sample = source ? source + elements : NULL; /* of a mass */
    int32_t *const point = source ? keeper->take_host(keeper->context, bytes) : NULL;
    for (count j = l->ny; j >= 0 && point; j--)
        for (count i = 1; i <= l->nx; i++) {
            const count o = j * l->stride + i;
            const count here = (j + MINIAPP_HALO - 1) * row_of_fields + i + MINIAPP_HALO - 1;
            if (kind[o] > 1) {
                if (sample[kind[o]] == 0)
                    sample[kind[o]] = (int32_t)here;
                point[p->corners++] = (int32_t)o;
            }
            source[o] = kind[o] == IN_WATER ? (int32_t)here : sample[kind[o]];
        }
    p->points = p->corners;
    for (count o = 0; o < (l->ny + 1) * l->stride && point; o++) {
        const bool is_copy = o % l->stride == 0 || o % l->stride == l->nx + 1;
        if (kind[o] == IN_WATER || (kind[o] > 1 && is_copy))
            point[p->points++] = (int32_t)o;
    }
    p->point_on_host = point;
    p->point = upload(keeper, point, bytes);
    p->source = upload(keeper, source, bytes);
    free(source);
    return p->point && p->source;
}

/* Finds land masses from the water in e's work, and their coasts; the kind of each corner, for the
 * caller to free. */
static int32_t *map_land(const struct kernel_call *call, struct stream_problem *p)
{
    const struct level *const l = p->e.level;
    const size_t elements = (size_t)elements_of(l);
    double *const water = copy_of(call, p->e.work, elements);
    int32_t *const kind = calloc(2 * elements, sizeof(*kind));
    ptrdiff_t *const stack = calloc(elements, sizeof(*stack));
    bool is_done = water && kind && stack;
    struct land_map map = {
        l->nx, l->ny, l->stride, water, call->cyclic_x, is_done ? kind + elements : NULL, stack, 0};
    if (is_done) {
        number_masses(&map);
        for (count j = 0; j <= l->ny; j++) {
            for (count o = j * l->stride + 1; o <= j * l->stride + l->nx; o++)
                kind[o] = kind_of_corner(&map, o);
            CLOSE_RING(kind + j * l->stride, l->nx, 1, l->nx + 1);
        }
        p->modes = map.masses - 1;
        is_done = list_points(call->keeper, p, kind, (count)call->grid.nx);
    }
    free(water);
    free(stack);
    if (!is_done)
        free(kind);
    return is_done ? kind : NULL;
}

/* The memory of modes, which are 0 until they are found. */
static bool take_modes(const struct keeper *keeper, struct stream_problem *p)
{
    const size_t corners = (size_t)p->corners, modes = (size_t)p->modes;
    const size_t points = (size_t)p->points + TOGETHER;
    if (modes == 0)
        return true;
    p->on_coast = keeper->take_host(keeper->context, modes * (corners + 1) * sizeof(double));
    p->unbalanced = keeper->take_device(keeper->context, (corners + 1) * sizeof(double));
    p->amount = keeper->take_device(keeper->context, modes * sizeof(double));
    p->mode = keeper->take_device(keeper->context, modes * points * sizeof(double));
    return p->on_coast && p->unbalanced && p->amount && p->mode;
}

/* Finds the next mode: the solution that is 1 on the coast of one mass and 0 on others, less its
 * share of modes before, scaled; 0 if the mass has no coast. */
static bool VARIANT(find_mode)(const struct kernel_call *call, struct stream_problem *p,
                               const int32_t *kind, double tolerance)
{
    const count m = p->found;
    const struct keeper *const keeper = call->keeper;
    const size_t elements = (size_t)elements_of(p->e.level), bytes = elements * sizeof(double);
    double *const coast = calloc(2, bytes);
    for (size_t o = 0; o < elements && coast; o++)
        coast[o] = kind[o] == m + 2;
    const bool is_put = coast && keeper->to_device(keeper->context, p->e.x, coast, bytes) &&
                        keeper->to_device(keeper->context, p->e.b, coast + elements, bytes);
    free(coast);
    if (!is_put)
        return false;
    VARIANT(solve_elliptic)(call, &p->e, tolerance, 0, true);
    VARIANT(balance_coasts)(call, p);
    double *const mode = copy_of(call, p->e.x, elements);
    const double *const left = mode ? VARIANT(find_unbalanced)(call, p) : NULL;
    double energy = 0;
    for (count n = 0; n < p->corners && left; n++)
        energy -= mode[p->point_on_host[n]] * left[n];
    const double scale = energy > 0 ? 1 / sqrt(energy) : 0;
    for (size_t o = 0; o < elements && left; o++)
        mode[o] *= scale;
    for (count n = 0; n < p->corners && left; n++)
        p->on_coast[n * p->modes + m] = mode[p->point_on_host[n]];
    bool is_done = left;
    for (count first = 0; first < p->points && is_done; first += TOGETHER) {
        double part[TOGETHER] = {0};
        for (count n = first; n < first + TOGETHER && n < p->points; n++)
            part[n - first] = mode[p->point_on_host[n]];
        is_done =
            keeper->to_device(keeper->context, p->mode + (ptrdiff_t)first * p->modes + m * TOGETHER,
                              part, sizeof(part));
    }
    free(mode);
    p->found += is_done;
    return is_done;
}

/* Makes what all steps share; NULL if that fails. */
static struct stream_problem *VARIANT(prepare_stream)(const struct kernel_call *call,
                                                      double tolerance)
{
    struct stream_problem *const p = call->keeper->take_host(call->keeper->context, sizeof(*p));
    if (!p || !take_problem(call, &p->e))
        return NULL;
    VARIANT(couple_corners)(call, &p->e);
    const size_t elements = (size_t)elements_of(p->e.level);
    int32_t *const kind = map_land(call, p);
    double *const all = kind ? copy_of(call, p->e.east, 4 * elements) : NULL;
    if (all)
        close_coasts(p->e.level, kind, couplings_in(all, elements));
    bool is_done = VARIANT(finish_problem)(call, &p->e, all) && take_modes(call->keeper, p);
    while (p->found < p->modes && is_done)
        is_done = VARIANT(find_mode)(call, p, kind, tolerance);
    free(kind);
    return is_done ? p : NULL;
}

void VARIANT(streamfunction)(const struct kernel_call *call)
{
#include "unpack.h"
    struct stream_problem *p = call->keeper->recall(call->keeper->context);
    if (!p)
        p = VARIANT(prepare_stream)(call, (double)solver_tolerance);
    if (!p) {
        call->keeper->lack_memory(call->keeper->context);
        return;
    }
    const double largest = VARIANT(start_stream)(call, p);
    const double factor =
        VARIANT(solve_elliptic)(call, &p->e, (double)solver_tolerance, largest, true);
    VARIANT(balance_coasts)(call, p);
    VARIANT(write_stream)(call, p, factor);
}
