/*
 * The levels of elliptic.h, made once on the host from the couplings of the finest. An aggregate's
 * unknown, times a weight, approximates its cells' x. Its equation makes it lose what its cells
 * lose where x is smooth: couplings and excesses are fitted to waves after some relaxations. Where
 * these are small, Galerkin's equations decide, whose couplings are divided by the distance of the
 * aggregates.
 */
#ifndef PHYSICS_LEVELS_H
#define PHYSICS_LEVELS_H

#include "elliptic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WAVES = 4, RELAXATIONS = 6 };
static const double WAVE_LENGTH = 28; /* in cells */
static const double DOUBT = 0.01;     /* the weight of Galerkin's equations in the fit */

/* A problem: its levels; the finest's couplings, excess, right-hand side, solution and an array to
 * work in, in double; the sweeps of the cycle and, behind them, those of a step and of the finest
 * level in the next cycle, and a copy on the device; and the interval of the eigenvalues of what
 * the cycle makes of A. */
struct elliptic {
    int levels, sweeps;
    struct level level[MOST_LEVELS];
    double *east, *north, *excess, *b, *x, *work;
    struct sweep sweep[MOST_SWEEPS], *on_device;
    double low, high;
    int iterations, nests; /* that the last problem took */
    bool has_told[2];      /* warnings of its convergence */
};

/* A level's numbers on the host while levels are made, one array after the other, and the inverse
 * root of the diagonal, 0 where no equation holds. */
struct couplings {
    double *east, *north, *excess, *root;
};

static inline struct couplings couplings_in(double *all, size_t elements)
{
    return (struct couplings){all, all + elements, all + 2 * elements, all + 3 * elements};
}

static inline count elements_of(const struct level *l)
{
    return l->stride * (l->ny + 2);
}

static inline struct level level_of(count nx, count ny)
{
    return (struct level){.nx = nx, .ny = ny, .stride = (nx + LANES - 1) / LANES * LANES + LANES};
}

/* Memory of the device for so many arrays of a level, the first cell on a cache line; NULL without.
 */
static inline void *take_arrays(const struct keeper *keeper, const struct level *l, size_t many,
                                size_t bytes)
{
    const size_t shift = LANES - 1;
    char *const all =
        keeper->take_device(keeper->context, (many * (size_t)elements_of(l) + shift) * bytes);
    return all ? all + shift * bytes : NULL;
}

static inline bool take_level_memory(const struct keeper *keeper, struct level *l, bool is_finest)
{
    float **const arrays[] = {&l->b,      &l->x,     &l->y,         &l->east,
                              &l->north,  &l->share, &l->full_east, &l->full_north,
                              &l->excess, &l->root,  &l->p};
    const size_t many = is_finest ? sizeof(arrays) / sizeof(*arrays) : 6;
    float *const all = take_arrays(keeper, l, many, sizeof(*all));
    for (size_t a = 0; a < many && all; a++)
        *arrays[a] = all + a * (size_t)elements_of(l);
    return all;
}

/* Puts numbers onto memory of the device that it takes for them; NULL if that fails. */
static inline void *upload(const struct keeper *keeper, const void *numbers, size_t bytes)
{
    void *const memory = numbers ? keeper->take_device(keeper->context, bytes) : NULL;
    return memory && keeper->to_device(keeper->context, memory, numbers, bytes) ? memory : NULL;
}

static inline void find_roots(const struct level *l, const struct couplings *c)
{
    for (count j = 1; j <= l->ny; j++) {
        CLOSE_RING(c->east + j * l->stride, l->nx, 1, l->nx + 1);
        for (count o = j * l->stride + 1; o <= j * l->stride + l->nx; o++) {
            const double diagonal =
                c->east[o] + c->east[o - 1] + c->north[o] + c->north[o - l->stride] + c->excess[o];
            c->root[o] = (float)diagonal > 0 ? 1 / sqrt(diagonal) : 0;
        }
    }
}

/* A cell's part of its aggregate's unknown: what a relaxation leaves of the constant, little where
 * an excess holds the cell near 0, as a coast beside it does. */
static inline double weight_of(const struct couplings *c, count o)
{
    return 1 - c->excess[o] * c->root[o] * c->root[o];
}

/* The cell to the east, and where a cell's aggregate lies in the next level. */
static inline count east_of(const struct level *l, count o)
{
    return o % l->stride == l->nx ? o + 1 - l->nx : o + 1;
}

static inline count aggregate_of(const struct level *l, count o)
{
    return l->coarse_row[o / l->stride] * l[1].stride + (o % l->stride - 1) / l->cells_x + 1;
}

/* Puts a level onto the device: its couplings, ring included, its cells' shares in aggregates, and
 * what the host has of it. */
static inline bool put_level(const struct keeper *keeper, struct level *l,
                             const struct couplings *c, const struct couplings *sums)
{
    const count stride = l->stride, elements = elements_of(l), nx = l->nx;
    const count own = l->root ? 4 * elements : 0; /* the finest level's alone */
    float *const east = calloc((size_t)(3 * elements + own), sizeof(*east));
    float *const north = east + elements, *const share = north + elements;
    for (count j = 1; j <= l->ny && east; j++) {
        for (count o = j * stride + 1; o <= j * stride + nx; o++) {
            east[o] = (float)(c->east[o] * c->root[o] * c->root[east_of(l, o)]);
            north[o] = (float)(c->north[o] * c->root[o] * c->root[o + stride]);
            if (sums && c->root[o] > 0)
                share[o] = (float)(weight_of(c, o) * sums->root[aggregate_of(l, o)] / c->root[o]);
        }
        CLOSE_RING(east + j * stride, nx, 1, nx + 1);
    }
    for (count o = 0; o < own && east; o++)
        share[elements + o] = (float)c->east[o];
    const bool is_put = east && keeper->to_device(keeper->context, l->east, east,
                                                  (size_t)(3 * elements + own) * sizeof(*east));
    free(east);
    if (!sums)
        return is_put;
    const size_t rows = (size_t)l->ny + 3;
    l->coarse_row = upload(keeper, l->coarse_row, 2 * rows * sizeof(*l->coarse_row));
    if (l->coarse_row)
        l->fine_row = l->coarse_row + rows;
    return is_put && l->coarse_row;
}

/* The ratio of couplings along x and y, in the geometric mean over cells of rows from `low` to
 * before `high` that have both. */
static inline double mean_ratio(const struct level *l, const struct couplings *c, count low,
                                count high)
{
    double sum = 0, cells = 0;
    for (count j = low; j < high; j++)
        for (count o = j * l->stride + 1; o <= j * l->stride + l->nx; o++)
            if (c->east[o] > 0 && c->north[o] > 0) {
                sum += log(c->east[o] / c->north[o]);
                cells++;
            }
    return cells > 0 ? exp(sum / cells) : 1;
}

/* Chooses the cells of the next level and lists its rows, host's memory until the level is put onto
 * the device: two cells along x, unless couplings along y are four times as strong in the mean, and
 * two rows, where couplings along x are at most twice as strong. */
static inline void join_cells(struct level *l, const struct couplings *c, int32_t *rows_of_both)
{
    const bool can_x = l->nx >= 4, can_y = l->ny >= 4;
    int32_t *const coarse = rows_of_both, *const fine = coarse + l->ny + 3; /* one to spare */
    int32_t rows = 0;
    l->cells_x = can_x && (!can_y || mean_ratio(l, c, 1, l->ny + 1) >= 0.24) ? 2 : 1;
    for (count j = 1; j <= l->ny;) {
        const bool are_two =
            can_y && j < l->ny && (l->cells_x == 1 || mean_ratio(l, c, j, j + 2) <= 2);
        fine[++rows] = (int32_t)j;
        for (int row = 0; row <= are_two; row++)
            coarse[j++] = rows;
    }
    coarse[l->ny + 1] = rows + 1;
    fine[rows + 1] = (int32_t)l->ny + 1;
    l->coarse_row = coarse;
    l->fine_row = fine;
    l[1] = level_of((l->nx + l->cells_x - 1) / l->cells_x, rows);
}

/* Couples aggregates by their faces, whose couplings are divided by the distance of the aggregates'
 * centres, in cells. */
static inline void couple_aggregates(const struct level *l, const struct couplings *c,
                                     const struct couplings *to)
{
    for (count j = 1; j <= l->ny; j++) {
        const int32_t *const rows = l->fine_row + l->coarse_row[j];
        const double northward = 0.5 * (rows[2] - rows[0]);
        for (count o = j * l->stride + 1; o <= j * l->stride + l->nx; o++) {
            const count beside = east_of(l, o), beyond = o + l->stride, sum = aggregate_of(l, o);
            const double weight = weight_of(c, o);
            if (sum != aggregate_of(l, beside))
                to->east[sum] += c->east[o] * weight * weight_of(c, beside) / (double)l->cells_x;
            if (sum != aggregate_of(l, beyond))
                to->north[sum] += c->north[o] * weight * weight_of(c, beyond) / northward;
        }
    }
}

/* A cell of an aggregate, with a value x. */
struct member {
    count sum;
    double weight, x;
};

static inline struct member member_at(const struct level *l, const struct couplings *c,
                                      const double *x, count o)
{
    return (struct member){aggregate_of(l, o), weight_of(c, o), x[o]};
}

/* Adds what two cells lose through their face: to each other's aggregate, times the difference of
 * the aggregates' unknowns, and beyond that, times the unknowns. */
static inline void add_face(double *across, double *excess, const double *unknown, double coupling,
                            struct member cell, struct member beyond)
{
    const double lost = coupling * (cell.weight - beyond.weight);
    excess[cell.sum] += lost * cell.x * unknown[cell.sum];
    excess[beyond.sum] -= lost * beyond.x * unknown[beyond.sum];
    if (cell.sum != beyond.sum)
        across[cell.sum] += coupling * (beyond.weight * cell.x - cell.weight * beyond.x) *
                            (unknown[cell.sum] - unknown[beyond.sum]);
}

static inline void add_losses(const struct level *l, const struct couplings *c, const double *x,
                              const double *unknown, const struct couplings *to)
{
    for (count j = 1; j <= l->ny; j++)
        for (count o = j * l->stride + 1; o <= j * l->stride + l->nx; o++) {
            const struct member cell = member_at(l, c, x, o);
            const struct member beside = member_at(l, c, x, east_of(l, o));
            const struct member beyond = member_at(l, c, x, o + l->stride);
            to->excess[cell.sum] += cell.weight * c->excess[o] * cell.x * unknown[cell.sum];
            add_face(to->east, to->excess, unknown, c->east[o], cell, beside);
            add_face(to->north, to->excess, unknown, c->north[o], cell, beyond);
        }
}

/* Adds the squares of unknowns, and of their differences. */
static inline void add_squares(const struct level *l, const double *unknown,
                               const struct couplings *to)
{
    for (count j = 1; j <= l->ny; j++)
        for (count o = j * l->stride + 1; o <= j * l->stride + l->nx; o++) {
            to->east[o] += pow(unknown[east_of(l, o)] - unknown[o], 2);
            to->north[o] += pow(unknown[o + l->stride] - unknown[o], 2);
            to->excess[o] += pow(unknown[o], 2);
        }
}

/* A wave along x, y or a diagonal, relaxed: each equation in turn, without a right-hand side, gives
 * its cell a value. */
static inline void make_wave(const struct level *l, const struct couplings *c, int wave, double *x)
{
    const double pi = acos(-1), number = 2 * pi / WAVE_LENGTH, angle = pi / WAVES * wave;
    for (int sweep = 0; sweep <= RELAXATIONS; sweep++)
        for (count j = 1; j <= l->ny; j++) {
            for (count i = 1; i <= l->nx; i++) {
                const count o = j * l->stride + i, south = o - l->stride;
                const double along = cos(angle) * (double)i + sin(angle) * (double)j;
                const double sum = c->east[o] * x[o + 1] + c->east[o - 1] * x[o - 1] +
                                   c->north[o] * x[o + l->stride] + c->north[south] * x[south];
                x[o] = sweep == 0 ? sin(number * along) : c->root[o] * c->root[o] * sum;
            }
            CLOSE_RING(x + j * l->stride, l->nx, 1, l->nx + 1);
        }
}

/* The unknowns of aggregates whose cells' parts in them come nearest to x. */
static inline void find_unknowns(const struct level *l, const struct couplings *c, const double *x,
                                 double *unknown, double *squares)
{
    const size_t aggregates = (size_t)elements_of(l + 1);
    memset(unknown, 0, aggregates * sizeof(*unknown));
    memset(squares, 0, aggregates * sizeof(*squares));
    for (count j = 1; j <= l->ny; j++)
        for (count o = j * l->stride + 1; o <= j * l->stride + l->nx; o++) {
            const struct member cell = member_at(l, c, x, o);
            const double root = c->root[o];
            unknown[cell.sum] += root > 0 ? cell.weight * cell.x / (root * root) : 0;
            squares[cell.sum] += root > 0 ? cell.weight * cell.weight / (root * root) : 0;
        }
    for (size_t sum = 0; sum < aggregates; sum++)
        unknown[sum] = squares[sum] > 0 ? unknown[sum] / squares[sum] : 0;
}

/* Makes the equations of aggregates; false without memory. Excesses are Galerkin's at first. */
static inline bool add_cells(const struct level *l, const struct couplings *c,
                             const struct couplings *sums)
{
    const size_t cells = (size_t)elements_of(l), aggregates = (size_t)elements_of(l + 1);
    double *const x = calloc(cells + 8 * aggregates, sizeof(*x));
    if (!x)
        return false;
    double *const unknown = x + cells, *const work = unknown + aggregates;
    const struct couplings losses = couplings_in(work + aggregates, aggregates);
    const struct couplings squares = couplings_in(losses.root, aggregates);
    couple_aggregates(l, c, sums);
    for (size_t o = 0; o < cells; o++)
        x[o] = weight_of(c, (count)o);
    for (size_t sum = 0; sum < aggregates; sum++)
        unknown[sum] = 1;
    add_losses(l, c, x, unknown, sums);
    for (int wave = 0; wave < WAVES; wave++) {
        make_wave(l, c, wave, x);
        find_unknowns(l, c, x, unknown, work);
        add_losses(l, c, x, unknown, &losses);
        add_squares(l + 1, unknown, &squares);
    }
    for (size_t n = 0; n < 3 * aggregates; n++) {
        const double first = sums->east[n];
        const double fit = (losses.east[n] + DOUBT * first) / (squares.east[n] + DOUBT);
        sums->east[n] = fmin(fmax(fit, first / 2), 2 * first);
    }
    free(x);
    return true;
}

/* Inverts a symmetric positive definite matrix, by Gauss and Jordan's elimination. */
static inline void invert(double *matrix, count rows)
{
    for (count n = 0; n < rows; n++) {
        double *const row = matrix + n * rows, pivot = row[n];
        row[n] = 1;
        for (count m = 0; m < rows; m++)
            row[m] /= pivot;
        for (count other = 0; other < rows; other++) {
            double *const to = matrix + other * rows, factor = to[n];
            if (other != n)
                to[n] = 0;
            for (count m = 0; m < rows && other != n; m++)
                to[m] -= factor * row[m];
        }
    }
}

/* Puts the inverse of the coarsest level's matrix onto the device. What is added to the diagonal
 * bounds it where a basin has almost no excess, and with it what the inverse makes of rounding, of
 * which there is little without finer levels. */
static inline bool put_inverse(const struct keeper *keeper, struct level *l,
                               const struct couplings *c)
{
    const double added = l->root ? 1e-6 : 5e-3;
    const count nx = l->nx, stride = l->stride, cells = nx * l->ny;
    const size_t bytes = (size_t)(cells * elements_of(l)) * sizeof(float);
    double *const matrix = calloc((size_t)(cells * cells), sizeof(*matrix));
    float *const inverse = matrix ? calloc(1, bytes) : NULL;
    for (count n = 0; n < cells && inverse; n++) {
        const count i = n % nx + 1, o = (n / nx + 1) * stride + i, east = i % nx + 1 - i;
        const count beyond[] = {n + east, n + nx};
        const double coupling[] = {c->east[o] * c->root[o] * c->root[o + east],
                                   c->north[o] * c->root[o] * c->root[o + stride]};
        matrix[n * cells + n] += 1 + added;
        for (int side = 0; side < 2 && beyond[side] < cells; side++) {
            matrix[n * cells + beyond[side]] -= coupling[side];
            matrix[beyond[side] * cells + n] -= coupling[side];
        }
    }
    if (inverse)
        invert(matrix, cells);
    for (count n = 0; n < cells && inverse; n++)
        for (count m = 0; m < cells; m++)
            inverse[(m / nx * cells + n) * stride + m % nx + 1] = (float)matrix[n * cells + m];
    float *const memory = inverse ? take_arrays(keeper, l, (size_t)cells, sizeof(float)) : NULL;
    l->inverse = memory;
    const bool is_put = memory && keeper->to_device(keeper->context, memory, inverse, bytes);
    free(matrix);
    free(inverse);
    return is_put;
}

/* Makes a level, which has memory, and all that are coarser. */
static inline bool build_levels(const struct keeper *keeper, struct elliptic *e,
                                const struct couplings *c)
{
    struct level *const l = &e->level[e->levels++];
    find_roots(l, c);
    if (l->nx * l->ny <= FEW)
        return put_level(keeper, l, c, NULL) && put_inverse(keeper, l, c);
    int32_t *const rows = calloc(2 * (size_t)(l->ny + 3), sizeof(*rows));
    if (rows)
        join_cells(l, c, rows);
    const size_t elements = rows ? (size_t)elements_of(l + 1) : 0;
    double *const all = calloc(4 * elements, sizeof(*all));
    const struct couplings sums = couplings_in(all, elements);
    const bool is_done = rows && all && take_level_memory(keeper, l + 1, false) &&
                         add_cells(l, c, &sums) && build_levels(keeper, e, &sums) &&
                         put_level(keeper, l, c, &sums);
    free(all);
    free(rows);
    return is_done;
}

/* ---- the cycle ---- */

/* A root of the smoothers' Chebyshev polynomial. */
static inline double chebyshev_root(int degree)
{
    const double high = MOST_EIGENVALUE, low = high / SMOOTHED;
    return (high + low) / 2 + (high - low) / 2 * cos(acos(-1) * (degree + 0.5) / DEGREE);
}

static inline struct sweep *append_sweep(struct elliptic *e, int kind, const struct level *l,
                                         count rows, count columns)
{
    struct sweep *const s = &e->sweep[e->sweeps++];
    *s = (struct sweep){.kind = kind, .level = *l, .rows = rows, .columns = columns};
    return s;
}

/* Adds the sweeps of a smoother, which leave the approximation in the level's x. */
static inline void append_smoother(struct elliptic *e, struct level *l, bool is_from_zero)
{
    for (int degree = is_from_zero; degree < DEGREE; degree++) {
        const bool is_of_b = is_from_zero && degree == 1;
        struct sweep *const s = append_sweep(e, is_of_b ? BEGIN : ADD_DEGREE, l, l->ny, l->nx);
        s->by.scale = (float)(is_of_b ? 1 / chebyshev_root(0) : 1);
        s->by.more = (float)(1 / chebyshev_root(degree));
        s->from = is_of_b ? l->b : l->x;
        s->to = l->y;
        l->y = l->x;
        l->x = s->to;
    }
}

/* Adds the sweep from a level to the next one, or back. */
static inline void append_transfer(struct elliptic *e, const struct level *fine, bool is_back)
{
    const struct level *const coarse = fine + 1;
    struct sweep *const s = append_sweep(e, is_back ? PROLONG : RESTRICT, fine,
                                         is_back ? fine->ny : coarse->ny, coarse->nx);
    s->coarse_stride = coarse->stride;
    s->from = is_back ? coarse->x : fine->x;
    s->to = is_back ? fine->x : coarse->b;
}

/* Lists the sweeps of the cycle, those of a step, and again those that begin the cycle. */
static inline bool make_cycle(const struct keeper *keeper, struct elliptic *e)
{
    struct level *const last = &e->level[e->levels - 1];
    for (struct level *l = e->level; l < last; l++) {
        append_smoother(e, l, true);
        append_transfer(e, l, false);
    }
    struct sweep *const solution = append_sweep(e, SOLVE, last, last->ny, last->nx);
    solution->from = last->b;
    solution->to = last->x;
    for (int n = e->levels - 2; n >= 0; n--) {
        append_transfer(e, &e->level[n], true);
        append_smoother(e, &e->level[n], false);
    }
    for (int kind = TAKE_STEP; kind <= FOLLOW_STEP; kind++) {
        struct sweep *const s = append_sweep(e, kind, e->level, e->level->ny, e->level->nx);
        s->from = e->level->x;
        s->solution = e->x;
    }
    memcpy(e->sweep + e->sweeps, e->sweep, DEGREE * sizeof(*e->sweep));
    e->sweeps -= 2;
    e->on_device = upload(keeper, e->sweep, sizeof(e->sweep));
    return e->on_device;
}

#endif
