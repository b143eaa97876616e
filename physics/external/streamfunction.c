/*
 * The streamfunction's tendency, whose flow has the same vorticity as the depth mean of the
 * tendency of momentum, and as much circulation around each island; then the streamfunction itself,
 * by Adams and Bashforth's scheme.
 *
 * The equation of a corner is the circulation around it: through each face that lies beside, a flow
 * of the difference of two corners over the face's height. It holds at corners in water. Those of a
 * coast share one value, and the sum of their equations holds. Values of coasts come from those
 * equations by the solutions psin, each 1 on one coast and 0 on others, which are found once.
 */
#define DESCRIPTION "external/streamfunction.kernel"
#include "arguments.h"
#include "constants.h"
#include "face_height.h"
#include "islands.h"
#include "solve.h"
#include "span.h"

/* The problem, which all steps share. The couplings of e are those of all faces between water;
 * levels are made of those between corners in water, with those to coasts in the excess. Memory is
 * the device's. */
struct stream_problem {
    struct elliptic e;
    count masses, coast_corners; /* of land; of all coasts */
    int32_t *coast, *source;     /* all coasts' corners; where each corner's guess is in fields */
    double *unbalanced;          /* what the equations of coast corners leave */
    double *value;               /* of each mass's coast, from 2 on */
    double *psin;                /* arrays of the masses from 2 on */
    int32_t *owner;              /* host: the mass of each corner of a coast */
    double *matrix, *sums;       /* host: of the masses' equations, the inverse, and the right-hand
                                    side with room for the solution */
};

/* Faces between water, in rows 0 to ny of corners; and the water, in e's p. Corner (i, j) is the
 * north-eastern one of cell (i, j). Those with i = 0 lie on the western wall of a closed ocean,
 * which is one with the northern wall: their streamfunction is 0, as in the ring. */
static void VARIANT(couple_corners)(const struct kernel_call *call, const struct elliptic *e)
{
#include "unpack.h"
    const count cells_x = e->level->nx, cells_y = e->level->ny, stride = e->level->stride;
    double *const east = e->east, *const north = e->north, *const water = e->p;
    const bool is_cyclic = call->cyclic_x;
    PARALLEL_COLUMNS
    for (count j = 0; j <= cells_y; j++)
        for (count i0 = 0; i0 < cells_x; i0 += ROW_CHUNK) {
            const struct arguments a = {
#include "gather.h"
            };
            const struct span part = chunk(i0, cells_x);
            const count y = j + MINIAPP_HALO - 1, row = j * stride, cells = part.end - part.begin;
            const count first = y * nx + part.begin + MINIAPP_HALO;
            double v_faces[ROW_CHUNK], u_faces[ROW_CHUNK];
            heights_of_faces(&a, first + 1, nx, cells, v_faces);
            heights_of_faces(&a, first + nx, 1, cells, u_faces);
            ALONG_X
            for (count n = 0; n < cells; n++) {
                const count i = part.begin + 1 + n, x = i + MINIAPP_HALO - 1;
                const bool has_u = u_faces[n] > 0 && j < cells_y && (i < cells_x || is_cyclic);
                const bool has_v = v_faces[n] > 0 && j < cells_y && (i < cells_x || is_cyclic) &&
                                   j > 0 && cells_x > 1;
                east[row + i] =
                    has_v ? (double)dyu[y] / ((double)dxt[x + 1] * (double)cosu[y] * v_faces[n])
                          : 0;
                north[row + i] =
                    has_u ? (double)dxu[x] * (double)cost[y + 1] / ((double)dyt[y + 1] * u_faces[n])
                          : 0;
                water[row + i] = j > 0 && kbot[first + n] > 0;
            }
            if (is_cyclic) {
                CLOSE_RING(east + row, cells_x, part.begin + 1, part.end + 1);
            } else if (part.begin == 0) {
                double v_face;
                heights_of_faces(&a, first, nx, 1, &v_face);
                east[row] =
                    v_face > 0 && j > 0 && j < cells_y && cells_x > 1
                        ? (double)dyu[y] / ((double)dxt[MINIAPP_HALO] * (double)cosu[y] * v_face)
                        : 0;
            }
        }
}

/* The right-hand side, the circulation of the mean tendency around each corner, and the guess, an
 * extrapolation in time: for a whole coast, that at one of its corners. */
static void VARIANT(start_stream)(const struct kernel_call *call, const struct stream_problem *p)
{
#include "unpack.h"
    const count cells_x = p->e.level->nx, cells_y = p->e.level->ny, stride = p->e.level->stride;
    const double *const east = p->e.east, *const north = p->e.north;
    const int32_t *const source = p->source;
    double *const b = p->e.b, *const guess = p->e.x;
    PARALLEL_COLUMNS
    for (count j = 0; j <= cells_y; j++)
        for (count i0 = 1; i0 <= cells_x; i0 += ROW_PART(cells_x)) {
            const count end = i0 + ROW_PART(cells_x), y = j + MINIAPP_HALO - 1, row = j * stride;
            const count south = j > 0 ? stride : 0;
            ALONG_X
            for (count i = i0; i < end; i++) {
                const count o = row + i, x = i + MINIAPP_HALO - 1, c = y * nx + x;
                const double v_east = east[o] > 0 ? dv_mean[c + 1] : 0;
                const double v_west = east[o - 1] > 0 ? dv_mean[c] : 0;
                const double u_north = north[o] > 0 ? du_mean[c + nx] : 0;
                const double u_south = south && north[o - south] > 0 ? du_mean[c] : 0;
                b[o] = (double)dyu[y] * (v_west - v_east) +
                       (double)dxu[x] * ((double)cost[y + 1] * u_north - (double)cost[y] * u_south);
                guess[o] = source[o] > 0 ? 2 * dpsi[source[o]] - dpsi_taum1[source[o]] : 0;
            }
            CLOSE_RING(guess + row, cells_x, i0, end);
        }
}

/* The residual of x in the equations of coast corners. */
static void VARIANT(find_unbalanced)(const struct stream_problem *p)
{
    const count corners = p->coast_corners, stride = p->e.level->stride, once = 1;
    const double *const east = p->e.east, *const north = p->e.north, *const b = p->e.b,
                        *const x = p->e.x;
    const int32_t *const coast = p->coast;
    double *const unbalanced = p->unbalanced;
    PARALLEL_COLUMNS
    for (count turn = 0; turn < once; turn++)
        for (count first = 0; first < corners; first += ROW_PART(corners)) {
            ALONG_X
            for (count n = first; n < first + ROW_PART(corners); n++) {
                const count o = coast[n], south = o > stride ? o - stride : o;
                unbalanced[n] = b[o] + east[o] * (x[o + 1] - x[o]) +
                                east[o - 1] * (x[o - 1] - x[o]) +
                                north[o] * (x[o + stride] - x[o]) +
                                (o > stride ? north[south] * (x[south] - x[o]) : 0);
            }
        }
}

/* Adds psin of each mass, times its value. */
static void VARIANT(add_masses)(const struct stream_problem *p)
{
    const count cells_x = p->e.level->nx, cells_y = p->e.level->ny, stride = p->e.level->stride;
    const count elements = elements_of(p->e.level), masses = p->masses;
    const double *const value = p->value, *const psin = p->psin;
    double *const x = p->e.x;
    PARALLEL_COLUMNS
    for (count j = 0; j <= cells_y; j++)
        for (count i0 = 0; i0 < cells_x + 2; i0 += ROW_PART(cells_x + 2))
            for (count mass = 2; mass <= masses; mass++) {
                const double *const one = psin + (ptrdiff_t)(mass - 2) * elements;
                ALONG_X
                for (count o = j * stride + i0; o < j * stride + i0 + ROW_PART(cells_x + 2); o++)
                    x[o] += value[mass - 2] * one[o];
            }
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

/* The inverse in the place of a symmetric, positive definite matrix. */
static inline void invert(double *matrix, count rows)
{
    for (count k = 0; k < rows; k++) {
        double *const pivot = matrix + k * rows, inverse = 1 / pivot[k];
        pivot[k] = 1;
        for (count column = 0; column < rows; column++)
            pivot[column] *= inverse;
        for (count row = 0; row < rows; row++) {
            const double factor = row == k ? 0 : matrix[row * rows + k];
            if (row != k)
                matrix[row * rows + k] = 0;
            for (count column = 0; column < rows; column++)
                matrix[row * rows + column] -= factor * pivot[column];
        }
    }
}

/* The sums over each coast, from mass 2 on, of what its corners' equations leave. */
static bool VARIANT(sum_coasts)(const struct kernel_call *call, const struct stream_problem *p)
{
    VARIANT(find_unbalanced)(p);
    const double *const left =
        call->totals->on_host(call->totals->context, p->unbalanced, (size_t)p->coast_corners);
    for (count mass = 2; mass <= p->masses; mass++)
        p->sums[mass - 2] = 0;
    for (count n = 0; n < p->coast_corners && left; n++)
        if (p->owner[n] > 1)
            p->sums[p->owner[n] - 2] += left[n];
    return left;
}

/* Couplings between corners in water; those to coasts become excess, as that to a western wall. */
static inline void close_coasts(const struct level *l, const int32_t *kind, bool is_cyclic,
                                const struct couplings *c)
{
    for (count j = 0; j <= l->ny; j++) {
        if (!is_cyclic && kind[j * l->stride + 1] == IN_WATER)
            c->excess[j * l->stride + 1] += c->east[j * l->stride];
        for (count i = 1; i <= l->nx; i++) {
            const count row = j * l->stride, o = row + i;
            const count others[] = {i < l->nx ? o + 1 : row + 1, o + l->stride};
            double *const couplings[] = {&c->east[o], &c->north[o]};
            for (int n = 0; n < 2; n++) {
                const bool is_water = kind[o] == IN_WATER, other_is = kind[others[n]] == IN_WATER;
                if (is_water != other_is)
                    c->excess[is_water ? o : others[n]] += *couplings[n];
                if (!is_water || !other_is)
                    *couplings[n] = 0;
            }
            if (i == l->nx)
                c->east[row] = c->east[o];
        }
    }
}

/* Lists the corners of coasts from north to south, since the southern wall lies in ghosts, and
 * where each corner's guess is: 0 where the guess is 0, as along the northern wall. */
static bool list_coasts(const struct keeper *keeper, struct stream_problem *p, const int32_t *kind,
                        count row_of_fields)
{
    const struct level *const l = p->e.level;
    const size_t elements = (size_t)elements_of(l), bytes = elements * sizeof(int32_t);
    int32_t *const all = calloc(3, bytes);
    if (!all)
        return false;
    int32_t *const source = all + elements, *const sample = source + elements;
    p->owner = keeper->take_host(keeper->context, bytes);
    for (count j = l->ny; j >= 0 && p->owner; j--)
        for (count i = 1; i <= l->nx; i++) {
            const count o = j * l->stride + i;
            const count here = (j + MINIAPP_HALO - 1) * row_of_fields + i + MINIAPP_HALO - 1;
            if (kind[o] > IN_LAND) {
                if (kind[o] > 1 && sample[kind[o]] == 0)
                    sample[kind[o]] = (int32_t)here;
                p->owner[p->coast_corners] = kind[o];
                all[p->coast_corners++] = (int32_t)o;
            }
            source[o] = kind[o] == IN_WATER ? (int32_t)here : sample[kind[o]];
        }
    p->coast = upload(keeper, all, bytes);
    p->source = upload(keeper, source, bytes);
    free(all);
    return p->owner && p->coast && p->source;
}

/* Finds masses and coasts from the water in e's p; the kind of each corner, for the caller to free.
 */
static int32_t *map_land(const struct kernel_call *call, struct stream_problem *p)
{
    const struct level *const l = p->e.level;
    const size_t elements = (size_t)elements_of(l);
    double *const water = copy_of(call, p->e.p, elements);
    int32_t *const kind = calloc(elements, sizeof(*kind));
    struct land_map map = {l,
                           water,
                           call->cyclic_x,
                           calloc(elements, sizeof(*map.mass)),
                           calloc(elements, sizeof(*map.stack)),
                           0};
    bool is_done = water && kind && map.mass && map.stack;
    if (is_done) {
        number_masses(&map);
        for (count j = 0; j <= l->ny; j++)
            for (count o = j * l->stride + 1; o <= j * l->stride + l->nx; o++)
                kind[o] = kind_of_corner(&map, o);
        p->masses = map.masses;
        is_done = list_coasts(call->keeper, p, kind, (count)call->grid.nx);
    }
    free(water);
    free(map.mass);
    free(map.stack);
    if (!is_done)
        free(kind);
    return is_done ? kind : NULL;
}

/* The memory of what masses need. */
static bool take_masses(const struct keeper *keeper, struct stream_problem *p)
{
    const size_t others = (size_t)(p->masses - 1), elements = (size_t)elements_of(p->e.level);
    p->sums = keeper->take_host(keeper->context, (2 * others + 1) * sizeof(double));
    p->matrix = keeper->take_host(keeper->context, (others * others + 1) * sizeof(double));
    p->value = keeper->take_device(keeper->context, (others + 1) * sizeof(double));
    p->unbalanced = keeper->take_device(keeper->context, elements * sizeof(double));
    p->psin = keeper->take_device(keeper->context, (others * elements + 1) * sizeof(double));
    return p->sums && p->matrix && p->value && p->unbalanced && p->psin;
}

/* Solves for psin of a mass, and finds its part in all masses' equations. */
static bool VARIANT(find_psin)(const struct kernel_call *call, struct stream_problem *p, count mass,
                               const int32_t *kind, double tolerance)
{
    const struct keeper *const keeper = call->keeper;
    const struct level *const l = p->e.level;
    const size_t elements = (size_t)elements_of(l), bytes = elements * sizeof(double);
    const count others = p->masses - 1;
    double *const numbers = calloc(elements, sizeof(*numbers));
    bool is_done = numbers && keeper->to_device(keeper->context, p->e.b, numbers, bytes);
    for (count j = 0; j <= l->ny && is_done; j++)
        for (count i = 0; i <= l->nx + 1; i++)
            numbers[j * l->stride + i] = kind[j * l->stride + (i + l->nx - 1) % l->nx + 1] == mass;
    is_done = is_done && keeper->to_device(keeper->context, p->e.x, numbers, bytes);
    free(numbers);
    if (!is_done)
        return false;
    VARIANT(solve_elliptic)(call, &p->e, tolerance, true);
    double *const psin = copy_of(call, p->e.x, elements);
    is_done = psin &&
              keeper->to_device(keeper->context, p->psin + (ptrdiff_t)elements * (mass - 2), psin,
                                bytes) &&
              VARIANT(sum_coasts)(call, p);
    free(psin);
    for (count row = 0; row < others && is_done; row++)
        p->matrix[row * others + mass - 2] = -p->sums[row];
    if (is_done && !(p->matrix[(mass - 2) * (others + 1)] > 0)) /* it has no coast */
        p->matrix[(mass - 2) * (others + 1)] = 1;
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
    double *const all = kind ? copy_of(call, p->e.east, 3 * elements) : NULL;
    if (all)
        close_coasts(p->e.level, kind, call->cyclic_x,
                     &(struct couplings){all, all + elements, all + 2 * elements, NULL});
    bool is_done = VARIANT(finish_problem)(call, &p->e, all) && take_masses(call->keeper, p);
    for (count mass = 2; mass <= p->masses && is_done; mass++)
        is_done = VARIANT(find_psin)(call, p, mass, kind, tolerance);
    free(kind);
    if (is_done)
        invert(p->matrix, p->masses - 1);
    return is_done ? p : NULL;
}

/* Adds what makes the equations of all coasts hold. */
static void VARIANT(balance_coasts)(const struct kernel_call *call, struct stream_problem *p)
{
    const count others = p->masses - 1;
    if (others == 0 || !VARIANT(sum_coasts)(call, p))
        return;
    double *const values = p->sums + others;
    for (count row = 0; row < others; row++) {
        values[row] = 0;
        for (count column = 0; column < others; column++)
            values[row] += p->matrix[row * others + column] * p->sums[column];
    }
    call->keeper->to_device(call->keeper->context, p->value, values,
                            (size_t)others * sizeof(*values));
    VARIANT(add_masses)(p);
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
    VARIANT(start_stream)(call, p);
    const double factor = VARIANT(solve_elliptic)(call, &p->e, (double)solver_tolerance, true);
    VARIANT(balance_coasts)(call, p);
    VARIANT(write_stream)(call, p, factor);
}
