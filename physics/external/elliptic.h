/*
 * Equations of five points on a grid of nx x ny cells, which rows of a graph's Laplacian and a
 * diagonal make: for each cell
 *
 *     excess x + sum over its four sides of coupling (x - x beyond) = b.
 *
 * Couplings are symmetric, and 0 where there is land or a wall, so the matrix is symmetric and,
 * where each basin has an excess, positive definite. A cell without couplings and excess has x = 0.
 *
 * Arrays have a ring around the cells: element (i, j), with i from 1 to nx, lies at j * stride + i.
 * Columns 0 and nx + 1 repeat those of the other end, whether x is cyclic or not: a closed ocean
 * has no coupling there, or x = 0 at both ends. Rows 0 and ny + 1 are 0.
 *
 * The multigrid cycle of this file approximates x, in float: sums over aggregates of 2 x 2 cells,
 * or 2 x 1 where couplings in one direction are stronger (semicoarsening), make the coarser levels,
 * and Chebyshev polynomials smooth. All of its nests treat points independently, and it has no sums
 * over the grid; so bits do not depend on threads.
 */
#ifndef PHYSICS_ELLIPTIC_H
#define PHYSICS_ELLIPTIC_H

#include "directives.h"
#include "variant.h"

#include <stdbool.h>

enum {
    MOST_LEVELS = 32,
    DEGREE = 3,           /* of a smoother, before and after the coarser levels */
    COARSEST_DEGREE = 24, /* of what solves the coarsest level */
    ALONE = 8192,         /* a level of at most so many cells is one thread's */
};

/* The interval of eigenvalues of D^-1 A that a smoother damps ends at 2, by Gershgorin's theorem.
 */
static const double MOST_EIGENVALUE = 2, SMOOTHED = 8, COARSEST_SMOOTHED = 60;

/* A level's couplings to the east and north, its diagonal and the diagonal's inverse (0 on land);
 * then the right-hand side, the approximation and two arrays to work in. */
struct level {
    count nx, ny, stride;
    count cells_x, cells_y; /* of this level in one of the next */
    float *east, *north, *diagonal, *inverse;
    float *b, *x, *y, *p;
};

/* Repeats a row's ends on the other side, if they lie in [begin, end); a row of any type. */
#define CLOSE_RING(row, nx, begin, end)                                                            \
    do {                                                                                           \
        if ((begin) == 1)                                                                          \
            (row)[(nx) + 1] = (row)[1];                                                            \
        if ((end) == (nx) + 1)                                                                     \
            (row)[0] = (row)[nx];                                                                  \
    } while (0)

/* The sum over the neighbours of a cell of coupling times value. */
#define NEIGHBOURS(value)                                                                          \
    (east[o] * value[o + 1] + east[o - 1] * value[o - 1] + north[o] * value[o + stride] +          \
     north[o - stride] * value[o - stride])

/* A level's arrays and lengths as locals: a target region takes pointers one by one. */
#define USABLE __attribute__((unused)) const
#define LEVEL_LOCALS                                                                               \
    const count nx = l->nx, ny = l->ny, stride = l->stride;                                        \
    USABLE bool is_shared = nx * ny > ALONE;                                                       \
    USABLE float *const b = l->b, *const inverse = l->inverse;                                     \
    USABLE float *const east = l->east, *const north = l->north;

/* The first two degrees of a polynomial that begins with x = 0. */
static void VARIANT(smooth_from_zero)(const struct level *l, float first, float again, float more)
{
    LEVEL_LOCALS
    float *const x = l->x, *const p = l->p;
    PARALLEL_COLUMNS_IF(is_shared)
    for (count j = 1; j <= ny; j++)
        for (count i0 = 1; i0 <= nx; i0 += ROW_PART(nx)) {
            ALONG_X
            for (count i = i0; i < i0 + ROW_PART(nx); i++) {
                const count o = j * stride + i, e = o + 1, w = o - 1, n = o + stride,
                            s = o - stride;
                const float x0 = inverse[o] * b[o];
                const float beside = east[o] * (inverse[e] * b[e]) + east[w] * (inverse[w] * b[w]) +
                                     north[o] * (inverse[n] * b[n]) +
                                     north[s] * (inverse[s] * b[s]);
                const float x1 = first * x0;
                const float step = again * x1 + more * (x0 + inverse[o] * (first * beside) - x1);
                p[o] = step;
                x[o] = x1 + step;
            }
            CLOSE_RING(x + j * stride, nx, i0, i0 + ROW_PART(nx));
        }
}

/* A further degree: p becomes again p + more D^-1 (b - A x), and x becomes x + p. */
static void VARIANT(smooth)(struct level *l, bool is_first, float again, float more)
{
    LEVEL_LOCALS
    const float *const x = l->x;
    float *const y = l->y, *const p = l->p;
    PARALLEL_COLUMNS_IF(is_shared)
    for (count j = 1; j <= ny; j++)
        for (count i0 = 1; i0 <= nx; i0 += ROW_PART(nx)) {
            ALONG_X
            for (count i = i0; i < i0 + ROW_PART(nx); i++) {
                const count o = j * stride + i;
                const float left = inverse[o] * (b[o] + NEIGHBOURS(x)) - x[o];
                const float step = (is_first ? 0 : again * p[o]) + more * left;
                p[o] = step;
                y[o] = x[o] + step;
            }
            CLOSE_RING(y + j * stride, nx, i0, i0 + ROW_PART(nx));
        }
    l->x = y;
    l->y = (float *)x;
}

/* The right-hand side of the coarser level: sums of what this one leaves. */
enum { COARSE_CHUNK = ROW_CHUNK > 1 ? ROW_CHUNK / 2 : 1 };

static void VARIANT(restrict_to)(const struct level *l, const struct level *coarse)
{
    LEVEL_LOCALS
    const float *const x = l->x, *const diagonal = l->diagonal;
    const count cells_x = l->cells_x, cells_y = l->cells_y;
    const count coarse_nx = coarse->nx, coarse_ny = coarse->ny, coarse_stride = coarse->stride;
    float *const sums = coarse->b;
    PARALLEL_COLUMNS_IF(is_shared)
    for (count row = 1; row <= coarse_ny; row++)
        for (count first = 1; first <= coarse_nx; first += COARSE_CHUNK) {
            const count last =
                first + COARSE_CHUNK - 1 < coarse_nx ? first + COARSE_CHUNK - 1 : coarse_nx;
            const count from = (first - 1) * cells_x + 1;
            const count to = last * cells_x < nx ? last * cells_x : nx;
            const count north_most = row * cells_y < ny ? row * cells_y : ny;
            float left[2 * COARSE_CHUNK] = {0};
            for (count j = (row - 1) * cells_y + 1; j <= north_most; j++) {
                ALONG_X
                for (count i = from; i <= to; i++) {
                    const count o = j * stride + i;
                    left[i - from] += b[o] + NEIGHBOURS(x) - diagonal[o] * x[o];
                }
            }
            float *const result = sums + row * coarse_stride;
            if (cells_x == 2) {
                ALONG_X
                for (count i = first; i <= last; i++)
                    result[i] = left[2 * (i - first)] + left[2 * (i - first) + 1];
            } else {
                ALONG_X
                for (count i = first; i <= last; i++)
                    result[i] = left[i - first];
            }
            CLOSE_RING(result, coarse_nx, first, last + 1);
        }
}

/* Adds the coarser level's approximation. */
static void VARIANT(prolong_from)(const struct level *l, const struct level *coarse)
{
    LEVEL_LOCALS
    float *const x = l->x;
    const float *const correction = coarse->x;
    const count cells_x = l->cells_x, cells_y = l->cells_y;
    const count coarse_stride = coarse->stride, coarse_nx = coarse->nx;
    PARALLEL_COLUMNS_IF(is_shared)
    for (count j = 1; j <= ny; j++)
        for (count i0 = 1; i0 <= coarse_nx; i0 += ROW_PART(coarse_nx)) {
            const count end = i0 + ROW_PART(coarse_nx);
            const float *const from = correction + ((j - 1) / cells_y + 1) * coarse_stride;
            float *const row = x + j * stride;
            const float *const wet = inverse + j * stride;
            const count pairs = cells_x == 1 ? i0 : (nx / 2 + 1 < end ? nx / 2 + 1 : end);
            ALONG_X
            for (count i = i0; i < pairs; i++) {
                row[2 * i - 1] += wet[2 * i - 1] > 0 ? from[i] : 0;
                row[2 * i] += wet[2 * i] > 0 ? from[i] : 0;
            }
            ALONG_X
            for (count i = pairs; i < end; i++) /* without a pair: all, or the last of odd nx */
                row[cells_x * (i - 1) + 1] += wet[cells_x * (i - 1) + 1] > 0 ? from[i] : 0;
            CLOSE_RING(row, nx, cells_x * (i0 - 1) + 1, end > coarse_nx ? nx + 1 : end);
        }
}

/* The next degree's factors of a Chebyshev polynomial on [low, high]. */
struct chebyshev {
    double middle, sigma, half, rho;
};

static inline struct chebyshev chebyshev_on(double low, double high)
{
    const double middle = (high + low) / 2, half = (high - low) / 2;
    return (struct chebyshev){middle, middle / half, half, half / middle};
}

/* The factors of a degree: of the previous step, and of what is left. The first degree has 0 and
 * 1 / middle. */
static inline void next_degree(struct chebyshev *c, bool is_first, double *again, double *more)
{
    const double next = is_first ? c->rho : 1 / (2 * c->sigma - c->rho);
    *again = is_first ? 0 : next * c->rho;
    *more = is_first ? 1 / c->middle : 2 * next / c->half;
    c->rho = next;
}

/* The levels' approximation of A x = b, b and x being those of the first. */
static void VARIANT(multigrid_cycle)(struct level *l, int levels)
{
    const bool is_last = levels == 1;
    const double low = MOST_EIGENVALUE / (is_last ? COARSEST_SMOOTHED : SMOOTHED);
    struct chebyshev c = chebyshev_on(low, MOST_EIGENVALUE);
    double again, more;
    next_degree(&c, true, &again, &more);
    const float first = (float)more;
    next_degree(&c, false, &again, &more);
    VARIANT(smooth_from_zero)(l, first, (float)again, (float)more);
    for (int degree = 2; degree < (is_last ? COARSEST_DEGREE : DEGREE); degree++) {
        next_degree(&c, false, &again, &more);
        VARIANT(smooth)(l, false, (float)again, (float)more);
    }
    if (is_last)
        return;
    VARIANT(restrict_to)(l, l + 1);
    VARIANT(multigrid_cycle)(l + 1, levels - 1);
    VARIANT(prolong_from)(l, l + 1);
    c = chebyshev_on(low, MOST_EIGENVALUE);
    for (int degree = 0; degree < DEGREE; degree++) {
        next_degree(&c, degree == 0, &again, &more);
        VARIANT(smooth)(l, degree == 0, (float)again, (float)more);
    }
}

#endif
