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
 * has no coupling there, or x = 0 at both ends. Rows 0 and ny + 1 are 0. A row begins on a cache
 * line and has room for whole vectors, so that the host's loops have no rest.
 *
 * The multigrid cycle of this file approximates x, in float: sums over aggregates of 2 x 2 cells,
 * or 2 x 1 in rows where couplings along x are stronger (semicoarsening), make the coarser levels,
 * and Chebyshev polynomials smooth, a sweep for each of their roots. Unknowns and equations are
 * multiplied by the root of the diagonal, which makes the diagonal 1. The cycle is a list of
 * sweeps, made once; a sweep treats points independently and has no sums over the grid, so bits do
 * not depend on threads. Two more sweeps make an iteration of it: a step along the direction that
 * the cycle found, and what the step makes of the residual, in float as well.
 */
#ifndef PHYSICS_ELLIPTIC_H
#define PHYSICS_ELLIPTIC_H

#include "directives.h"
#include "span.h"
#include "variant.h"

#include <stdbool.h>

enum {
    MOST_LEVELS = 32, /* each has half as many rows or columns as the one before, or both */
    DEGREE = 3,       /* of a smoother, before and after the coarser levels */
    MOST_SWEEPS = (MOST_LEVELS + 1) * (2 * DEGREE + 2),
    FEW = 64,     /* a level of at most so many cells is the coarsest */
    ALONE = 8192, /* a level of at most so many cells is one thread's, or one block's */
    LANES = 16,   /* floats of a cache line */
};

/* The interval of eigenvalues that a smoother damps ends at 2, by Gershgorin's theorem; so many
 * times its beginning. */
static const double MOST_EIGENVALUE = 2, SMOOTHED = 5;

/* A level's right-hand side, approximation and an array to work in; couplings to the east and
 * north, with the unit diagonal; the share of the aggregate's unknown in a cell's. Only the finest
 * has couplings as they were, the excess, the inverse root of the diagonal and a step's direction;
 * only the coarsest has the inverse of its matrix, each row for all cells.
 * An aggregate has `cells_x` cells along x, and one or two rows: `coarse_row` is the next level's
 * row of a row, `fine_row` the first row of one of the next level's. */
struct level {
    count nx, ny, stride, cells_x;
    const int32_t *coarse_row, *fine_row;
    float *b, *x, *y, *east, *north, *share;
    float *full_east, *full_north, *excess, *root, *p;
    const float *inverse;
};

/* A sweep goes through rows and columns of its level or, to and from the next one, of aggregates. A
 * degree of a polynomial goes on from an approximation, `scale` times `from`. A polynomial that
 * begins with 0 has `scale` times b after its first degree; the second one is a sweep of its own
 * kind, which needs no b beside. */
struct sweep {
    enum { BEGIN, ADD_DEGREE, RESTRICT, SOLVE, PROLONG, TAKE_STEP, FOLLOW_STEP } kind;
    struct level level;
    count rows, columns, coarse_stride;
    struct factors {
        float scale, more;
        double gain, owed;
    } by;
    const float *from;
    float *to;
    double *solution;
};

/* Rows from `low` to before `high`, and columns. */
struct patch {
    count low, high, begin, end;
};

/* Repeats a row's ends on the other side, if they lie in [begin, end); a row of any type. */
#define CLOSE_RING(row, nx, begin, end)                                                            \
    do {                                                                                           \
        if ((begin) == 1)                                                                          \
            (row)[(nx) + 1] = (row)[1];                                                            \
        if ((end) == (nx) + 1)                                                                     \
            (row)[0] = (row)[nx];                                                                  \
    } while (0)

/* The end of a loop along x: the host goes on to the end of a vector. */
#define LOOP_END(end) HOST_OR_OFFLOAD(((end) + LANES - 2) / LANES * LANES + 1, end)

/* The end of a loop over the pairs of a row: the host goes on to the end of their last vector. */
#define PAIRS_END(end, nx) HOST_OR_OFFLOAD(LOOP_END((nx) + 1) / 2 + 1, end)

/* The residual without b, as a sum of differences, so that rounding of the diagonal plays no part.
 */
#define LEFT_OF(x)                                                                                 \
    (east[o] * (x[o + 1] - x[o]) + east[o - 1] * (x[o - 1] - x[o]) +                               \
     north[o] * (x[o + stride] - x[o]) + north[o - stride] * (x[o - stride] - x[o]) -              \
     excess[o] * x[o])

#define USABLE __attribute__((unused)) const
#define LEVEL_LOCALS                                                                               \
    const count begin = patch.begin, end = patch.end;                                              \
    USABLE count nx = s->level.nx, stride = s->level.stride, cells_x = s->level.cells_x;           \
    USABLE float *const share = s->level.share, *const from = s->from;                             \
    float *USABLE to = s->to;

/* The floats of a row that the host takes at once, where registers need not be as long. */
#if defined(PHYSICS_OFFLOAD)
typedef float line;
#else
typedef float line __attribute__((vector_size(LANES * sizeof(float)), may_alias));
#endif

/* A part of a row: a cache line where registers are as long, and else a cell. WEST_OF and EAST_OF
 * give the part one cell to the west or east: a line comes from this one and the one beside it,
 * since loads that cross two lines take twice as long. A loop over lines keeps what it has read. */
#if defined(__AVX512F__) && !defined(PHYSICS_OFFLOAD)
typedef line part;
#define WEST_OF(before, here)                                                                      \
    __builtin_shufflevector(before, here, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28,  \
                            29, 30)
#define EAST_OF(here, after)                                                                       \
    __builtin_shufflevector(here, after, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
#define KEPT_OR_READ(kept, read) (kept)
#define ALONG_PARTS
#else
typedef float part;
#define WEST_OF(before, here) (before)
#define EAST_OF(here, after) (after)
#define KEPT_OR_READ(kept, read) (read)
#define ALONG_PARTS ALONG_X
#endif
#define PART_AT(array) (*(const part *)(array))
enum { PART = sizeof(part) / sizeof(float), ROWS = PART > 1 ? 4 : 2 };

/* Multiplies rows by the matrix: for a degree of a polynomial with a root at 1 / more, by which x
 * gains more (b - A x); for what x leaves of b, in shares of aggregates; or for what a step leaves
 * of b, as a sum of differences, so that rounding of the diagonal plays no part. Rows share what
 * they read of each other. */
INLINED void multiply_rows(const struct sweep *s, struct factors by, struct patch patch, int rows,
                           int kind)
{
    const struct level *const l = &s->level;
    const bool is_step = kind == FOLLOW_STEP;
    const count stride = l->stride, first = patch.low * stride;
    const float *const x = is_step ? l->p : s->from, *const b = l->b;
    const float *const east = is_step ? l->full_east : l->east;
    const float *const north = is_step ? l->full_north : l->north;
    const float keep = by.scale * (1 - by.more), gain = by.scale * by.more;
    float *const to = is_step ? l->b : kind == RESTRICT ? l->y : s->to;
    struct {
        part before, here, west;
    } kept[ROWS] __attribute__((unused));
    for (int row = 0; row < rows; row++) {
        const count o = first + row * stride + patch.begin;
        kept[row].before = PART_AT(x + o - PART);
        kept[row].here = PART_AT(x + o);
        kept[row].west = PART_AT(east + o - PART);
    }
    ALONG_PARTS
    for (count i = patch.begin; i < LOOP_END(patch.end); i += PART) {
        part next[ROWS];
        for (int row = 0; row < rows; row++) {
            const count o = first + row * stride + i;
            const part before = KEPT_OR_READ(kept[row].before, x[o - 1]);
            const part here = KEPT_OR_READ(kept[row].here, x[o]);
            const part west = KEPT_OR_READ(kept[row].west, east[o - 1]);
            const part after = PART_AT(x + o + PART), beside = PART_AT(east + o);
            const part base = is_step ? here : (part){0};
            const part sum = beside * (EAST_OF(here, after) - base) +
                             WEST_OF(west, beside) * (WEST_OF(before, here) - base) +
                             PART_AT(north + o) * (PART_AT(x + o + stride) - base) +
                             PART_AT(north + o - stride) * (PART_AT(x + o - stride) - base);
            if (kind == BEGIN)
                next[row] = gain * sum + (by.more + keep) * here;
            else if (kind == ADD_DEGREE)
                next[row] = gain * sum + (by.more * PART_AT(b + o) + keep * here);
            else if (kind == RESTRICT)
                next[row] = PART_AT(l->share + o) * (PART_AT(b + o) + sum - here);
            else
                next[row] =
                    PART_AT(b + o) + PART_AT(l->root + o) * (sum - PART_AT(l->excess + o) * here);
            KEPT_OR_READ(kept[row].before = here, (void)0);
            KEPT_OR_READ(kept[row].here = after, (void)0);
            KEPT_OR_READ(kept[row].west = beside, (void)0);
        }
        for (int row = 0; row < rows; row++)
            *(part *)(to + first + row * stride + i) = next[row];
    }
    for (int row = 0; row < rows && kind != RESTRICT; row++)
        CLOSE_RING(to + first + row * stride, l->nx, patch.begin, patch.end);
}

INLINED void multiply_patch(const struct sweep *s, struct factors by, struct patch patch, int kind)
{
    for (; HOST_OR_OFFLOAD(patch.low + ROWS <= patch.high, false); patch.low += ROWS)
        multiply_rows(s, by, patch, ROWS, kind);
    for (; patch.low < patch.high; patch.low++)
        multiply_rows(s, by, patch, 1, kind);
}

/* The right-hand side of the coarser level: sums of what this one leaves. If nx is odd, the last
 * aggregate's second cell is in the ring, where shares are 0. */
INLINED void restrict_to(const struct sweep *s, struct factors by, struct patch patch)
{
    LEVEL_LOCALS
    const count start = (begin - 1) * cells_x + 1;
    const int32_t *const rows = s->level.fine_row;
    const struct patch cells = {rows[patch.low], rows[patch.high], start, (end - 1) * cells_x + 1};
    float *const left = s->level.y;
    multiply_patch(s, by, cells, RESTRICT);
    for (count row = patch.low; row < patch.high; row++) {
        const count first = rows[row], last = rows[row + 1] - 1;
        const float *const low = left + first * stride, *const high = left + last * stride;
        const float both = last > first;
        float *const result = to + row * s->coarse_stride;
        if (cells_x == 2) {
            ALONG_X
            for (count i = begin; i < PAIRS_END(end, nx); i++)
                result[i] = low[2 * i - 1] + low[2 * i] + both * (high[2 * i - 1] + high[2 * i]);
        } else {
            ALONG_X
            for (count i = begin; i < LOOP_END(end); i++)
                result[i] = low[i] + both * high[i];
        }
        CLOSE_RING(result, s->columns, begin, end);
    }
}

/* The coarsest level's solution. */
INLINED void solve_coarsest(const struct sweep *s, struct patch patch)
{
    LEVEL_LOCALS
    for (count j = patch.low; j < patch.high; j++) {
        for (count i = begin; i < LOOP_END(end); i += sizeof(line) / sizeof(float)) {
            const float *inverse = s->level.inverse + (j - 1) * nx * s->level.ny * stride + i;
            line sum = {0};
            for (count row = 1; row <= s->level.ny; row++) {
                line of_row = {0}; /* so that a processor begins a row before it ends another */
                for (count o = row * stride + 1; o <= row * stride + nx; o++, inverse += stride)
                    of_row += *(const line *)inverse * from[o];
                sum += of_row;
            }
            *(line *)(to + j * stride + i) = sum;
        }
        CLOSE_RING(to + j * stride, nx, begin, end);
    }
}

/* Adds the coarser level's approximation. */
INLINED void prolong_from(const struct sweep *s, struct patch patch)
{
    LEVEL_LOCALS
    for (count j = patch.low; j < patch.high; j++) {
        const float *const coarse = from + s->level.coarse_row[j] * s->coarse_stride;
        const float *const shares = share + j * stride;
        float *const row = to + j * stride;
        if (cells_x == 2) {
            ALONG_X
            for (count i = begin; i < PAIRS_END(end, nx); i++) {
                row[2 * i - 1] += shares[2 * i - 1] * coarse[i];
                if (HOST_OR_OFFLOAD(true, 2 * i <= nx)) /* another thread may have the ring */
                    row[2 * i] += shares[2 * i] * coarse[i];
            }
        } else {
            ALONG_X
            for (count i = begin; i < LOOP_END(end); i++)
                row[i] += shares[i] * coarse[i];
        }
        CLOSE_RING(row, nx, cells_x * (begin - 1) + 1, end > s->columns ? nx + 1 : end);
    }
}

/* p becomes scale p + more z, with the cycle's z; if it gains, x gains that times `gain`, and what
 * p was times `owed`. Every other step leaves x alone, which is half of the step's bytes. */
INLINED void take_step(const struct sweep *s, struct factors by, struct patch patch, bool gains)
{
    LEVEL_LOCALS
    const float *const root = s->level.root;
    float *const p = s->level.p;
    double *const x = s->solution;
    for (count j = patch.low; j < patch.high; j++) {
        ALONG_X
        for (count o = j * stride + begin; o < j * stride + LOOP_END(end); o++) {
            const float step = by.scale * p[o] + by.more * root[o] * from[o];
            if (gains)
                x[o] += by.gain * (double)step + by.owed * (double)p[o];
            p[o] = step;
        }
        CLOSE_RING(p + j * stride, nx, begin, end);
        if (gains)
            CLOSE_RING(x + j * stride, nx, begin, end);
    }
}

INLINED void sweep_part(const struct sweep *s, struct factors by, struct patch patch)
{
    if (s->kind == BEGIN)
        multiply_patch(s, by, patch, BEGIN);
    else if (s->kind == ADD_DEGREE)
        multiply_patch(s, by, patch, ADD_DEGREE);
    else if (s->kind == RESTRICT)
        restrict_to(s, by, patch);
    else if (s->kind == SOLVE)
        solve_coarsest(s, patch);
    else if (s->kind == PROLONG)
        prolong_from(s, patch);
    else if (s->kind == TAKE_STEP && by.gain == 0)
        take_step(s, by, patch, false);
    else if (s->kind == TAKE_STEP)
        take_step(s, by, patch, true);
    else
        multiply_patch(s, by, patch, FOLLOW_STEP);
}

/* Sweeps of one level go through a band of its rows together, each a row behind the one before, so
 * that memory is read once for all. The seams do what needs rows beyond the band. */
OF_ROW void VARIANT(sweep_rows)(const struct sweep *s, int sweeps, count band, count bands,
                                bool is_seam)
{
    const count rows = s->level.ny, together = 4 + 320 / s->level.nx * 4; /* rows of a sweep */
    const count low = band * rows / bands + 1;
    const count high = is_seam ? low : (band + 1) * rows / bands + 1;
    const int above = is_seam ? -1 : band > 0 ? 2 : 0;
    const int below = is_seam ? 2 : band < bands - 1 ? -1 : 0;
    for (count top = low + together; top < high + 3 * sweeps + together; top += together)
        for (int n = 0; n < sweeps; n++) {
            const count first = top - together - n, begin = low + above * n;
            const count last = top - n, end = high + below * n;
            count from = first > begin ? first : begin, to = last < end ? last : end;
            if (from >= to)
                continue;
            if (s[n].kind == RESTRICT) {
                from = s[n].level.coarse_row[from];
                to = s[n].level.coarse_row[to];
            }
            sweep_part(s + n, s[n].by, (struct patch){from, to, 1, s[n].columns + 1});
        }
}

/* A band has at least 4 rows a sweep, so that seams do not meet. */
static void VARIANT(sweep_by_all)(const struct sweep *host, USABLE struct sweep *s,
                                  USABLE int sweeps)
{
    const count columns = host->columns;
    USABLE float scale = host->by.scale, more = host->by.more;
    USABLE double gain = host->by.gain, owed = host->by.owed;
    const count bands =
        HOST_OR_OFFLOAD(clamp(host->level.ny / (4 * sweeps), 1, omp_get_max_threads()), host->rows);
    if (HOST_OR_OFFLOAD(bands == 1, false)) { /* which a parallel region would delay */
        HOST_OR_OFFLOAD(VARIANT(sweep_rows)(host, sweeps, 0, 1, false), (void)0);
        return;
    }
    for (int seam = 0; seam < HOST_OR_OFFLOAD(2, 1); seam++) {
        PARALLEL_COLUMNS
        for (count band = seam; band < bands; band++)
            for (count i = 1; i <= columns; i += ROW_PART(columns))
                HOST_OR_OFFLOAD(
                    VARIANT(sweep_rows)(host, sweeps, band, bands, seam),
                    sweep_part(s, ((struct factors){scale, more, gain, owed}),
                               ((struct patch){band + 1, band + 2, i, i + ROW_PART(columns)})));
    }
}

/* Sweeps of small levels: one launch of one block, which would be idle for most of a launch each.
 */
static void VARIANT(sweep_by_team)(const struct sweep *all, int begin, int end)
{
    ONE_TEAM
    for (int n = begin; n < end; n++) {
        const struct sweep *const s = all + n;
        const count parts = s->columns / ROW_PART(s->columns), rows = HOST_OR_OFFLOAD(s->rows, 1);
        for (count turn = TEAM_MEMBER; turn < s->rows / rows * parts; turn += TEAM_SIZE) {
            const count i = turn % parts * ROW_PART(s->columns) + 1, j = turn / parts + 1;
            sweep_part(s, s->by, (struct patch){j, j + rows, i, i + ROW_PART(s->columns)});
        }
        TEAM_BARRIER
    }
}

/* Not so a step of a GPU, whose factors only the host knows. */
static inline bool is_small(const struct sweep *s)
{
    return s->level.nx * s->level.ny <= ALONE && HOST_OR_OFFLOAD(true, s->kind < TAKE_STEP);
}

/* Whether one call makes both, and all between: sweeps of small levels and, on the host, of one. */
static inline bool is_one_go(const struct sweep *s, const struct sweep *other)
{
    return is_small(s) ? is_small(other) : HOST_OR_OFFLOAD(s->level.b == other->level.b, false);
}

/* Sweeps from `begin` to before `end`; returns the number of nests. The host has a copy of the
 * device's list. */
static int VARIANT(run_sweeps)(const struct sweep *host, const struct sweep *device, int begin,
                               int end)
{
    int nests = 0;
    for (int n = begin, next; n < end; n = next) {
        for (next = n + 1; next < end && is_one_go(host + n, host + next);)
            next++;
        if (is_small(host + n))
            VARIANT(sweep_by_team)(HOST_OR_OFFLOAD(host, device), n, next);
        else
            VARIANT(sweep_by_all)(host + n, device + n, next - n);
        nests++;
    }
    return nests;
}

#endif
