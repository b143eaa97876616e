/*
 * Solves the equations of elliptic.h by Chebyshev's iteration around the multigrid cycle, in
 * rounds: the residual is found in double, and follows the steps of a round in float. It has no
 * sums over the grid; only the largest residual decides when it ends. Where it does not converge,
 * conjugate gradients around the same cycle do, whose sums the host takes, exactly. They also find
 * the eigenvalues, once.
 */
#ifndef PHYSICS_SOLVE_H
#define PHYSICS_SOLVE_H

#include "exact_sum.h"
#include "levels.h"
#include "sums.h"

#include <float.h>
#include <stdio.h>

#define CONJUGATE_GRADIENTS_NEEDED                                                                 \
    "the external mode does not converge by Chebyshev's iteration: conjugate gradients take over"
#define ROUNDING_REACHED                                                                           \
    "the external mode is solved as far as rounding allows, but not to solver_tolerance"

enum { MOST_CHEBYSHEV = 60, ROUND = 6, MOST_GRADIENTS = 1000, LANCZOS = 16 };
static const double MOST_OF_ROUND = 1e6; /* that the residual shrinks by, as float can follow */
static const double NOTHING = 1e-290;    /* a right-hand side below, whose residual underflows */

/* The size of a residual over the diagonal, by the latter's inverse root; in bits_of. */
INLINED int64_t size_of(double residual, float root)
{
    return bits_of(__builtin_fabs((double)root * ((double)root * residual)));
}

/* Puts the residual, times a scale, into the cycle's right-hand side; 0 where no equation holds.
 * Returns the largest residual over the diagonal. */
static double VARIANT(find_residual)(struct elliptic *e, double scale)
{
    const count nx = e->level->nx, ny = e->level->ny, stride = e->level->stride;
    const double *const east = e->east, *const north = e->north, *const excess = e->excess;
    const double *const x = e->x, *const b = e->b;
    const float *const root = e->level->root;
    float *const left = e->level->b;
    int64_t largest = 0;
    e->nests++;
    PARALLEL_COLUMNS_MAX(largest, nx * ny)
    for (count j = 1; j <= ny; j++)
        for (count i0 = 1; i0 <= nx; i0 += ROW_PART(nx)) {
            const count end = LOOP_END(i0 + ROW_PART(nx)), row = j * stride;
            int64_t most = 0;
            ALONG_X_MAX(most)
            for (count o = row + i0; o < row + end; o++) {
                const double here = b[o] + LEFT_OF(x);
                const int64_t size = size_of(here, root[o]);
                left[o] = (float)(scale * ((double)root[o] * here));
                most = size > most ? size : most;
            }
            largest = most > largest ? most : largest;
            CLOSE_RING(left + row, nx, i0, i0 + ROW_PART(nx));
        }
    return number_from(largest);
}

/* p becomes again p + more z, with the cycle's z, and x gains `gain` of it. */
static void VARIANT(go_on)(struct elliptic *e, double again, double more, double gain)
{
    e->sweep[e->sweeps].by = (struct factors){(float)again, (float)more, gain, 0};
    e->nests += VARIANT(run_sweeps)(e->sweep, e->on_device, e->sweeps, e->sweeps + 1);
}

/* Each cell's part in p times A p or, without, in the residual times z. */
static void VARIANT(find_products)(const struct elliptic *e, bool is_energy)
{
    const count nx = e->level->nx, ny = e->level->ny, stride = e->level->stride;
    const double *const east = e->east, *const north = e->north, *const excess = e->excess;
    const float *const p = e->level->p;
    const float *const left = e->level->b, *const z = e->level->x;
    double *const work = e->work;
    PARALLEL_COLUMNS
    for (count j = 1; j <= ny; j++)
        for (count i0 = 1; i0 <= nx; i0 += ROW_PART(nx)) {
            ALONG_X
            for (count i = i0; i < i0 + ROW_PART(nx); i++) {
                const count o = j * stride + i;
                work[o] = is_energy ? -(double)p[o] * LEFT_OF(p) : (double)left[o] * (double)z[o];
            }
        }
}

/* The largest magnitude; NaN without numbers. */
static inline double largest_of(const double *numbers, count elements)
{
    double largest = numbers ? 0 : NAN;
    for (count o = 0; o < elements && numbers; o++)
        largest = fmax(largest, fabs(numbers[o]));
    return largest;
}

/* The sum over all cells, exact whatever its order; NaN if the numbers cannot be copied. */
static double VARIANT(sum_of_products)(const struct kernel_call *call, const struct elliptic *e,
                                       bool is_energy)
{
    const count elements = elements_of(e->level);
    VARIANT(find_products)(e, is_energy);
    const double *const parts =
        call->totals->on_host(call->totals->context, e->work, (size_t)elements);
    const double cutter = first_cutter(largest_of(parts, elements));
    double sums[SUM_PARTS] = {0};
    for (count o = 0; o < elements && parts; o++)
        add_exactly(&sums[0], &sums[1], &sums[2], parts[o], cutter);
    return parts ? sum_of_parts(sums) : NAN;
}

/* A matrix from the factors of conjugate gradients, whose eigenvalues are near some of the
 * operator's (Lanczos). */
struct tridiagonal_matrix {
    int rows;
    double diagonal[LANCZOS];
    double square[LANCZOS]; /* of the element to the left of the diagonal */
};

/* The eigenvalue that has so many below it, by Sturm's sequences. */
static inline double eigenvalue(const struct tridiagonal_matrix *m, int rank)
{
    double low = 0, high = 100;
    for (int halving = 0; halving < 60; halving++) {
        const double middle = (low + high) / 2;
        double pivot = 1;
        int below = 0;
        for (int row = 0; row < m->rows; row++) {
            pivot = m->diagonal[row] - middle - (row ? m->square[row] / pivot : 0);
            if (pivot == 0)
                pivot = DBL_MIN;
            below += pivot < 0;
        }
        *(below > rank ? &high : &low) = middle;
    }
    return (low + high) / 2;
}

/* Conjugate gradients around the cycle, until the residual is small enough; returns the residual.
 * With a matrix they stop when it is full. */
static double VARIANT(conjugate_gradients)(const struct kernel_call *call, struct elliptic *e,
                                           double scale, double enough,
                                           struct tridiagonal_matrix *m)
{
    double before = 0, length = 0, left = 0;
    for (int it = 0; it < (m ? LANCZOS : MOST_GRADIENTS); it++) {
        left = VARIANT(find_residual)(e, scale);
        if (!(left > enough))
            break;
        e->nests += VARIANT(run_sweeps)(e->sweep, e->on_device, 0, e->sweeps);
        e->iterations++;
        const double gained = VARIANT(sum_of_products)(call, e, false);
        const double beta = it ? gained / before : 0, shorter = length;
        before = gained;
        VARIANT(go_on)(e, beta, 1, 0);
        length = gained / VARIANT(sum_of_products)(call, e, true);
        VARIANT(go_on)(e, 1, 0, length / scale);
        if (m) {
            m->diagonal[it] = 1 / length + (it ? beta / shorter : 0);
            m->square[it] = it ? beta / (shorter * shorter) : 0;
            m->rows = it + 1;
        }
    }
    return left;
}

/* The residual that rounding of x alone may leave; NaN if x cannot be copied. */
static inline double rounding_of_x(const struct kernel_call *call, const struct elliptic *e)
{
    const count elements = elements_of(e->level);
    const double *const x = call->totals->on_host(call->totals->context, e->x, (size_t)elements);
    return 8 * DBL_EPSILON * largest_of(x, elements);
}

/* Chebyshev's iteration; returns the residual. It stops, too, where that grows, or where a round
 * gains nothing and rounding of x may be why. A round is as many iterations as are needed if each
 * gains what the last ones do in theory. On the host the finest level's first sweeps of an
 * iteration go with the last of the one before. */
static double VARIANT(chebyshev_iteration)(const struct kernel_call *call, struct elliptic *e,
                                           double scale, double enough)
{
    const double middle = (e->high + e->low) / 2, half = (e->high - e->low) / 2;
    const double gain = acosh(middle / half);
    const int ahead = HOST_OR_OFFLOAD(e->levels > 1 ? DEGREE : 0, 0);
    double least = HUGE_VAL, rho = 0;
    for (int it = 0;;) {
        const double left = VARIANT(find_residual)(e, scale);
        if (!(left > enough) || it >= MOST_CHEBYSHEV || left > 1e3 * least ||
            (left >= least && left <= enough + rounding_of_x(call, e)))
            return left;
        least = left < least ? left : least;
        const double lacking = log(fmin(left / enough, MOST_OF_ROUND));
        const int needed = (int)fmin(fmax(lacking / gain + 0.9, 1), ROUND);
        bool owes = false;
        for (int end = it + needed, begin = 0; it < end; it++, begin = ahead) {
            const double twice = it ? 2 : 1, next = 1 / (twice * middle / half - rho);
            const bool gains = owes || it == end - 1;
            e->sweep[e->sweeps].by = (struct factors){
                (float)(next * rho), (float)(twice * next / half), gains / scale, owes / scale};
            owes = !gains;
            e->nests += VARIANT(run_sweeps)(e->sweep, e->on_device, begin,
                                            e->sweeps + (it < end - 1 ? 2 + ahead : 1));
            e->iterations++;
            rho = next;
        }
    }
}

static inline void tell_once(const struct keeper *keeper, bool *has_told, const char *line)
{
    if (!*has_told)
        keeper->tell(keeper->context, line);
    *has_told = true;
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

/* Solves for x, from what it holds. Residuals are relative to the largest b over the diagonal or,
 * where that is nothing but x has fixed values where no equation holds, to the residual at first.
 * Rounding of x alone leaves some residual, too. Returns a factor of the solution: 1, but 0 where
 * it is 0, and NaN where b is not finite. */
static double VARIANT(solve_elliptic)(const struct kernel_call *call, struct elliptic *e,
                                      double tolerance, double largest, bool has_fixed)
{
    const struct keeper *const keeper = call->keeper;
    e->iterations = e->nests = 0;
    if (largest < NOTHING && has_fixed)
        largest = VARIANT(find_residual)(e, 1);
    if (!isfinite(largest) || largest < NOTHING) {
        keeper->solved(keeper->context, 0, 0, 0);
        return !isfinite(largest) ? NAN : has_fixed;
    }
    const double scale = exp2(-logb(largest)); /* for the cycle's floats, without rounding */
    double enough = tolerance * largest;
    double left = VARIANT(chebyshev_iteration)(call, e, scale, enough);
    if (left > enough)
        enough += rounding_of_x(call, e);
    if (left > enough) {
        tell_once(keeper, &e->has_told[0], CONJUGATE_GRADIENTS_NEEDED);
        left = VARIANT(conjugate_gradients)(call, e, scale, enough, NULL);
    }
    if (left > enough || isnan(left))
        say_unsolved(call, left, largest);
    else if (left <= enough && left > tolerance * largest)
        tell_once(keeper, &e->has_told[1], ROUNDING_REACHED);
    keeper->solved(keeper->context, e->iterations, e->nests, left / largest);
    return 1;
}

/* Finds the interval of the eigenvalues of what the cycle makes of A, by a right-hand side of
 * noise, which no pattern of the grid resembles. Once conjugate gradients have found x to the
 * precision of the cycle, their factors consist of rounding. */
static bool VARIANT(find_spectrum)(const struct kernel_call *call, struct elliptic *e,
                                   const double *root)
{
    const size_t elements = (size_t)elements_of(e->level);
    struct tridiagonal_matrix m = {0};
    double *const noise = calloc(elements, sizeof(*noise));
    uint32_t state = 1;
    for (size_t o = 0; o < elements && noise; o++) {
        state = state * 1664525u + 1013904223u;
        noise[o] = root[o] > 0 ? ((double)state * 0x1p-31 - 1) / (root[o] * root[o]) : 0;
    }
    const bool is_put = noise && call->keeper->to_device(call->keeper->context, e->b, noise,
                                                         elements * sizeof(*noise));
    free(noise);
    if (is_put)
        VARIANT(conjugate_gradients)(call, e, 1, FLT_EPSILON, &m);
    e->low = eigenvalue(&m, 0);
    e->high = 1.01 * eigenvalue(&m, m.rows - 1);
    return is_put;
}

/* Takes the finest level for the grid of a call. South of row 0 of an array is the last row of the
 * one before, which is 0 as well. */
static inline bool take_problem(const struct kernel_call *call, struct elliptic *e)
{
    const count ghosts = 2 * MINIAPP_HALO;
    *e->level = level_of((count)call->grid.nx - ghosts, (count)call->grid.ny - ghosts);
    double **const arrays[] = {&e->east, &e->north, &e->excess, &e->b, &e->x, &e->work};
    const size_t many = sizeof(arrays) / sizeof(*arrays);
    double *const all = take_arrays(call->keeper, e->level, many, sizeof(*all));
    for (size_t a = 0; a < many && all; a++)
        *arrays[a] = all + a * (size_t)elements_of(e->level);
    return all && take_level_memory(call->keeper, e->level, true);
}

/* A copy of an array on the host; NULL if that fails. */
static inline double *copy_of(const struct kernel_call *call, const double *array, size_t elements)
{
    const double *const numbers = call->totals->on_host(call->totals->context, array, elements);
    double *const copy = numbers ? malloc(elements * sizeof(*copy)) : NULL;
    return copy ? memcpy(copy, numbers, elements * sizeof(*copy)) : NULL;
}

/* Makes levels and finds eigenvalues, from couplings, excess and an array of zeros, whose memory it
 * frees. */
static bool VARIANT(finish_problem)(const struct kernel_call *call, struct elliptic *e,
                                    double *couplings)
{
    const struct keeper *const keeper = call->keeper;
    const size_t elements = (size_t)elements_of(e->level);
    const struct couplings c = couplings_in(couplings, elements);
    const bool is_done = couplings && build_levels(keeper, e, &c) && make_cycle(keeper, e) &&
                         VARIANT(find_spectrum)(call, e, c.root);
    free(couplings);
    return is_done;
}

#endif
