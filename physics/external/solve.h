/*
 * Solves the equations of elliptic.h by Chebyshev's iteration around the multigrid cycle. It has no
 * sums over the grid; only the largest residual decides when it ends. Where it does not converge,
 * conjugate gradients around the same cycle do, whose sums are taken column by column and then over
 * the columns, in an order that nothing changes. They also find the eigenvalues, once.
 */
#ifndef PHYSICS_SOLVE_H
#define PHYSICS_SOLVE_H

#include "levels.h"

#include <float.h>
#include <stdio.h>

#define CONJUGATE_GRADIENTS_NEEDED                                                                 \
    "the external mode does not converge by Chebyshev's iteration: conjugate gradients take over"

enum { MOST_CHEBYSHEV = 60, MOST_GRADIENTS = 500, LANCZOS = 16 };

/* The residual without b, as a sum of differences, so that rounding of the diagonal plays no part.
 */
#define LEFT_OF(x)                                                                                 \
    (east[o] * (x[o + 1] - x[o]) + east[o - 1] * (x[o - 1] - x[o]) +                               \
     north[o] * (x[o + stride] - x[o]) + north[o - stride] * (x[o - stride] - x[o]) -              \
     excess[o] * x[o])

/* Puts the residual, times a scale, into the cycle's right-hand side; 0 where no equation holds. */
static void VARIANT(find_residual)(const struct elliptic *e, double scale)
{
    const count nx = e->level->nx, ny = e->level->ny, stride = e->level->stride;
    const double *const east = e->east, *const north = e->north, *const excess = e->excess;
    const double *const x = e->x, *const b = e->b;
    const float *const inverse = e->level->inverse;
    float *const left = e->level->b;
    PARALLEL_COLUMNS_IF(nx * ny > ALONE)
    for (count j = 1; j <= ny; j++)
        for (count i0 = 1; i0 <= nx; i0 += ROW_PART(nx)) {
            ALONG_X
            for (count i = i0; i < i0 + ROW_PART(nx); i++) {
                const count o = j * stride + i;
                const double here = scale * (b[o] + LEFT_OF(x));
                left[o] = inverse[o] > 0 ? (float)here : 0;
            }
            CLOSE_RING(left + j * stride, nx, i0, i0 + ROW_PART(nx));
        }
}

/* p becomes again p + more z, with the cycle's z, and x gains `gain` of it. */
static void VARIANT(take_step)(const struct elliptic *e, double again, double more, double gain)
{
    const count nx = e->level->nx, ny = e->level->ny, stride = e->level->stride;
    const float *const z = e->level->x;
    double *const x = e->x, *const p = e->p;
    PARALLEL_COLUMNS_IF(nx * ny > ALONE)
    for (count j = 1; j <= ny; j++)
        for (count i0 = 1; i0 <= nx; i0 += ROW_PART(nx)) {
            const count end = i0 + ROW_PART(nx), row = j * stride;
            ALONG_X
            for (count o = row + i0; o < row + end; o++) {
                const double step = again * p[o] + more * z[o];
                p[o] = step;
                x[o] += gain * step;
            }
            CLOSE_RING(p + row, nx, i0, end);
            CLOSE_RING(x + row, nx, i0, end);
        }
}

/* Over all cells: the largest |b| and residual over the diagonal and the largest |x|; the sums of
 * residual times z, and of p times A p. */
enum measure { LARGEST_B, LARGEST_LEFT, LARGEST_X, LEFT_TIMES_Z, ENERGY_OF_P };
enum { SUM_PART = ROW_CHUNK > 1 ? 64 : 1 };

INLINED double larger_or_nan(double a, double b)
{
    return a >= b || a != a ? a : b;
}

static void VARIANT(measure_columns)(const struct elliptic *e, enum measure what)
{
    const count nx = e->level->nx, ny = e->level->ny, stride = e->level->stride, once = 1;
    const double *const east = e->east, *const north = e->north, *const excess = e->excess;
    const double *const x = e->x, *const p = e->p, *const b = e->b;
    const float *const left = e->level->b, *const z = e->level->x,
                       *const inverse = e->level->inverse;
    double *const columns = e->columns;
    PARALLEL_COLUMNS_IF(nx * ny > ALONE)
    for (count i0 = 1; i0 <= nx; i0 += SUM_PART)
        for (count turn = 0; turn < once; turn++) {
            const count end = i0 + SUM_PART <= nx ? i0 + SUM_PART : nx + 1;
            double found[SUM_PART] = {0};
            for (count j = 1; j <= ny; j++) {
                ALONG_X
                for (count i = i0; i < end; i++) {
                    const count o = j * stride + i;
                    double *const all = &found[i - i0];
                    if (what == LARGEST_B)
                        *all = larger_or_nan(*all, __builtin_fabs(b[o] * (double)inverse[o]));
                    else if (what == LARGEST_LEFT)
                        *all = larger_or_nan(*all,
                                             __builtin_fabs((double)left[o] * (double)inverse[o]));
                    else if (what == LARGEST_X)
                        *all = larger_or_nan(*all, __builtin_fabs(x[o]));
                    else if (what == LEFT_TIMES_Z)
                        *all += (double)left[o] * (double)z[o];
                    else
                        *all -= p[o] * LEFT_OF(p);
                }
            }
            for (count i = i0; i < end; i++)
                columns[i] = found[i - i0];
        }
}

/* False if the numbers cannot be copied from the device. */
static bool VARIANT(measure)(const struct kernel_call *call, const struct elliptic *e,
                             enum measure what, double *all)
{
    const count nx = e->level->nx;
    VARIANT(measure_columns)(e, what);
    const double *const columns =
        call->totals->on_host(call->totals->context, e->columns, (size_t)nx + 1);
    *all = 0;
    for (count i = 1; i <= nx && columns; i++)
        *all = what >= LEFT_TIMES_Z ? *all + columns[i] : larger_or_nan(*all, columns[i]);
    return columns;
}

/* A matrix from the factors of conjugate gradients, whose eigenvalues are near some of the
 * operator's (Lanczos). */
struct tridiagonal_matrix {
    int rows;
    double diagonal[LANCZOS];
    double square[LANCZOS]; /* of the element to the left of the diagonal */
};

/* How many of its eigenvalues lie below a number (Sturm). */
static inline int eigenvalues_below(const struct tridiagonal_matrix *m, double number)
{
    int below = 0;
    double pivot = 1;
    for (int row = 0; row < m->rows; row++) {
        pivot = m->diagonal[row] - number - (row ? m->square[row] / pivot : 0);
        if (pivot == 0)
            pivot = DBL_MIN;
        below += pivot < 0;
    }
    return below;
}

/* The least eigenvalue that has so many below it. */
static inline double eigenvalue(const struct tridiagonal_matrix *m, int rank)
{
    double low = 0, high = 100;
    for (int halving = 0; halving < 60; halving++) {
        const double middle = (low + high) / 2;
        *(eigenvalues_below(m, middle) > rank ? &high : &low) = middle;
    }
    return (low + high) / 2;
}

/* Conjugate gradients around the cycle, until the residual is small enough. With a matrix they
 * stop when it is full. Returns false if a copy fails. */
static bool VARIANT(conjugate_gradients)(const struct kernel_call *call, struct elliptic *e,
                                         double scale, double enough, double *left,
                                         struct tridiagonal_matrix *m)
{
    double before = 0, length = 0, beta = 0;
    for (int it = 0; it < (m ? LANCZOS : MOST_GRADIENTS); it++) {
        double product, energy;
        VARIANT(find_residual)(e, scale);
        if (!VARIANT(measure)(call, e, LARGEST_LEFT, left))
            return false;
        *left /= scale;
        if (!(*left > enough))
            return true;
        VARIANT(multigrid_cycle)(e->level, e->levels);
        if (!VARIANT(measure)(call, e, LEFT_TIMES_Z, &product))
            return false;
        beta = it ? product / before : 0;
        before = product;
        VARIANT(take_step)(e, beta, 1 / scale, 0);
        if (!VARIANT(measure)(call, e, ENERGY_OF_P, &energy))
            return false;
        const double shorter = length;
        length = product / (scale * scale) / energy;
        VARIANT(take_step)(e, 1, 0, length);
        if (m) {
            m->diagonal[it] = 1 / length + (it ? beta / shorter : 0);
            m->square[it] = it ? beta / (shorter * shorter) : 0;
            m->rows = it + 1;
        }
    }
    return true;
}

/* A power of two near 1 / number: it scales what the cycle gets in float, without rounding. */
static inline double scale_for(double number)
{
    int exponent;
    frexp(number, &exponent);
    return ldexp(1, -exponent);
}

/* Chebyshev's iteration. It stops, too, where the residual grows, or does not fall any more. */
static bool VARIANT(chebyshev_iteration)(const struct kernel_call *call, struct elliptic *e,
                                         double scale, double enough, double *left)
{
    struct chebyshev c = chebyshev_on(e->low, e->high);
    double again, more, least = HUGE_VAL;
    for (int it = 0;; it++) {
        VARIANT(find_residual)(e, scale);
        if (!VARIANT(measure)(call, e, LARGEST_LEFT, left))
            return false;
        *left /= scale;
        if (!(*left > enough) || it == MOST_CHEBYSHEV || *left > 1e3 * least)
            return true;
        least = *left < least ? *left : least;
        VARIANT(multigrid_cycle)(e->level, e->levels);
        next_degree(&c, it == 0, &again, &more);
        VARIANT(take_step)(e, again, more / scale, 1);
    }
}

/* Says that x is not what it should be; the step fails. */
static inline void say_unsolved(const struct kernel_call *call, double left, double largest)
{
    char line[160];
    snprintf(line, sizeof(line),
             "the external mode is not solved: a residual of %.1e of the right-hand side is left",
             left / largest);
    call->keeper->give_up(call->keeper->context, line);
}

/* The size that residuals are relative to: of b or, where b is 0 but x has fixed values, of the
 * residual at first. Not finite if a copy fails or b is not. */
static double VARIANT(size_of_problem)(const struct kernel_call *call, struct elliptic *e,
                                       bool has_fixed)
{
    double largest;
    if (!VARIANT(measure)(call, e, LARGEST_B, &largest))
        return NAN;
    if (largest != 0 || !has_fixed)
        return largest;
    VARIANT(find_residual)(e, 1);
    return VARIANT(measure)(call, e, LARGEST_LEFT, &largest) ? largest : NAN;
}

/* Solves for x, from what it holds. Rounding of x alone leaves some residual, too. x may have fixed
 * values where no equation holds. Returns a factor of the solution: 1, but 0 where it is 0, and NaN
 * where it is not finite. */
static double VARIANT(solve_elliptic)(const struct kernel_call *call, struct elliptic *e,
                                      double tolerance, bool has_fixed)
{
    const double largest = VARIANT(size_of_problem)(call, e, has_fixed);
    double left, most;
    if (!isfinite(largest) || largest == 0)
        return !isfinite(largest) ? NAN : has_fixed;
    const double scale = scale_for(largest);
    double enough = tolerance * largest;
    if (!VARIANT(chebyshev_iteration)(call, e, scale, enough, &left) || !(left > enough))
        return 1;
    if (!VARIANT(measure)(call, e, LARGEST_X, &most))
        return NAN;
    enough += 8 * DBL_EPSILON * most;
    if (left > enough) {
        if (!e->has_told)
            call->keeper->tell(call->keeper->context, CONJUGATE_GRADIENTS_NEEDED);
        e->has_told = true;
        VARIANT(conjugate_gradients)(call, e, scale, enough, &left, NULL);
    }
    if (left > enough)
        say_unsolved(call, left, largest);
    return 1;
}

/* A right-hand side that no pattern of the grid resembles, to find eigenvalues with. */
static inline void fill_with_noise(const struct level *l, const struct couplings *c, double *b)
{
    uint32_t state = 1;
    for (count j = 1; j <= l->ny; j++)
        for (count o = j * l->stride + 1; o <= j * l->stride + l->nx; o++) {
            state = state * 1664525u + 1013904223u;
            const double diagonal =
                c->east[o] + c->east[o - 1] + c->north[o] + c->north[o - l->stride] + c->excess[o];
            b[o] = diagonal * ((double)state * 0x1p-31 - 1);
        }
}

/* Finds the interval of the eigenvalues of what the cycle makes of A. Once conjugate gradients have
 * found x to the precision of the cycle, their factors consist of rounding. */
static bool VARIANT(find_spectrum)(const struct kernel_call *call, struct elliptic *e,
                                   const struct couplings *c)
{
    const struct keeper *const keeper = call->keeper;
    const size_t elements = (size_t)elements_of(e->level);
    struct tridiagonal_matrix m = {0};
    double left;
    double *const noise = calloc(elements, sizeof(*noise));
    if (noise)
        fill_with_noise(e->level, c, noise);
    const bool is_done =
        noise && keeper->to_device(keeper->context, e->b, noise, elements * sizeof(*noise)) &&
        VARIANT(conjugate_gradients)(call, e, 1, FLT_EPSILON, &left, &m);
    free(noise);
    e->low = m.rows ? 0.95 * eigenvalue(&m, 0) : 0.5;
    e->high = m.rows ? 1.03 * eigenvalue(&m, m.rows - 1) : 1.5;
    return is_done;
}

/* The memory of the finest level in double. */
static inline bool take_finest(const struct keeper *keeper, struct elliptic *e)
{
    double **const arrays[] = {&e->east, &e->north, &e->excess, &e->b, &e->x, &e->p, &e->columns};
    const size_t elements = (size_t)elements_of(e->level), many = sizeof(arrays) / sizeof(*arrays);
    double *const all = keeper->take_device(keeper->context, many * elements * sizeof(*all));
    for (size_t a = 0; a < many && all; a++)
        *arrays[a] = all + a * elements;
    return all && take_level_memory(keeper, e->level);
}

/* Takes the finest level for the grid of a call. */
static inline bool take_problem(const struct kernel_call *call, struct elliptic *e)
{
    const count ghosts = 2 * MINIAPP_HALO;
    *e->level = level_of((count)call->grid.nx - ghosts, (count)call->grid.ny - ghosts);
    return take_finest(call->keeper, e);
}

/* A copy of an array on the host; NULL if that fails. */
static inline double *copy_of(const struct kernel_call *call, const double *array, size_t elements)
{
    const double *const numbers = call->totals->on_host(call->totals->context, array, elements);
    double *const copy = numbers ? malloc(elements * sizeof(*copy)) : NULL;
    return copy ? memcpy(copy, numbers, elements * sizeof(*copy)) : NULL;
}

/* Makes coarser levels and finds eigenvalues, from couplings that it takes over. */
static bool VARIANT(finish_problem)(const struct kernel_call *call, struct elliptic *e,
                                    struct couplings finest)
{
    const size_t elements = (size_t)elements_of(e->level);
    struct couplings copy;
    bool is_done = finest.east && take_couplings(&copy, (count)elements);
    if (is_done) {
        memcpy(copy.east, finest.east, 3 * elements * sizeof(*copy.east));
        is_done =
            make_coarse_levels(call->keeper, e, copy) && VARIANT(find_spectrum)(call, e, &finest);
    }
    free(finest.east);
    return is_done;
}

#endif
