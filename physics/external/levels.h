/*
 * The levels of elliptic.h, made once on the host from the couplings of the finest. An aggregate's
 * couplings are sums over the faces that it shares with the next one, halved where it is two cells
 * long, because the distance doubles; its excess is the sum of its cells'.
 */
#ifndef PHYSICS_LEVELS_H
#define PHYSICS_LEVELS_H

#include "elliptic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A problem: its levels; the finest's couplings, excess, right-hand side, solution and direction in
 * double; a number for each column of cells; and the interval of the eigenvalues of what the cycle
 * makes of A. */
struct elliptic {
    int levels;
    struct level level[MOST_LEVELS];
    double *east, *north, *excess, *b, *x, *p, *columns;
    double low, high;
    bool has_told; /* that conjugate gradients are needed */
};

/* A level's numbers on the host while levels are made. */
struct couplings {
    double *east, *north, *excess;
};

static inline count elements_of(const struct level *l)
{
    return l->stride * (l->ny + 2);
}

static inline bool take_couplings(struct couplings *c, count elements)
{
    double *const all = calloc(3 * (size_t)elements, sizeof(*all));
    *c = (struct couplings){all, all + elements, all + 2 * elements};
    return all;
}

static inline struct level level_of(count nx, count ny)
{
    return (struct level){.nx = nx, .ny = ny, .stride = (nx + 2 + 15) / 16 * 16};
}

/* The memory of a level on the device. */
static inline bool take_level_memory(const struct keeper *keeper, struct level *l)
{
    float **const arrays[] = {&l->east, &l->north, &l->diagonal, &l->inverse,
                              &l->b,    &l->x,     &l->y,        &l->p};
    const size_t elements = (size_t)elements_of(l), many = sizeof(arrays) / sizeof(*arrays);
    float *const all = keeper->take_device(keeper->context, many * elements * sizeof(*all));
    for (size_t a = 0; a < many && all; a++)
        *arrays[a] = all + a * elements;
    return all;
}

/* Puts a level's numbers onto the device, ring included. */
static inline bool put_level(const struct keeper *keeper, const struct level *l,
                             const struct couplings *c)
{
    const count stride = l->stride, elements = elements_of(l);
    float *const all = calloc(4 * (size_t)elements, sizeof(*all));
    for (count j = 0; j <= l->ny && all; j++)
        for (count i = 0; i <= l->nx + 1; i++) {
            const count o = j * stride + i, repeated = (i + l->nx - 1) % l->nx + 1;
            const count from = j * stride + repeated,
                        west = repeated > 1 ? from - 1 : from + l->nx - 1;
            const double south = j > 0 ? c->north[from - stride] : 0;
            const double diagonal =
                c->east[from] + c->east[west] + c->north[from] + south + c->excess[from];
            all[o] = (float)c->east[from];
            all[elements + o] = (float)c->north[from];
            all[2 * elements + o] = (float)diagonal;
            all[3 * elements + o] = (float)diagonal > 0 ? (float)(1 / diagonal) : 0;
        }
    const bool is_put = all && keeper->to_device(keeper->context, l->east, all,
                                                 4 * (size_t)elements * sizeof(*all));
    free(all);
    return is_put;
}

/* The ratio of couplings along x and y, in the geometric mean over cells that have both. */
static inline double mean_ratio(const struct level *l, const struct couplings *c)
{
    double sum = 0, cells = 0;
    for (count j = 1; j <= l->ny; j++)
        for (count o = j * l->stride + 1; o <= j * l->stride + l->nx; o++)
            if (c->east[o] > 0 && c->north[o] > 0) {
                sum += log(c->east[o] / c->north[o]);
                cells++;
            }
    return cells > 0 ? exp(sum / cells) : 1;
}

/* Chooses how many cells make one of the next level; false where this is the last level. */
static inline bool choose_aggregates(struct level *l, const struct couplings *c)
{
    const double ratio = mean_ratio(l, c);
    const bool can_x = l->nx >= 4, can_y = l->ny >= 4;
    l->cells_x = can_x && (ratio >= 0.24 || !can_y) ? 2 : 1;
    l->cells_y = can_y && (ratio <= 1.25 || !can_x) ? 2 : 1;
    return l->nx * l->ny > 16 && l->cells_x * l->cells_y > 1;
}

static inline void add_cells(const struct level *fine, const struct couplings *from,
                             const struct level *coarse, struct couplings *to)
{
    const count cells_x = fine->cells_x, cells_y = fine->cells_y;
    for (count j = 1; j <= fine->ny; j++)
        for (count i = 1; i <= fine->nx; i++) {
            const count o = j * fine->stride + i;
            const count sum = ((j - 1) / cells_y + 1) * coarse->stride + (i - 1) / cells_x + 1;
            if (i % cells_x == 0 || i == fine->nx)
                to->east[sum] += from->east[o] / (double)cells_x;
            if (j % cells_y == 0)
                to->north[sum] += from->north[o] / (double)cells_y;
            to->excess[sum] += from->excess[o];
        }
}

/* Makes the levels; takes over the numbers of the first. */
static inline bool make_coarse_levels(const struct keeper *keeper, struct elliptic *e,
                                      struct couplings couplings)
{
    bool is_done = put_level(keeper, e->level, &couplings);
    for (e->levels = 1; is_done && e->levels < MOST_LEVELS; e->levels++) {
        struct level *const fine = &e->level[e->levels - 1], *const coarse = fine + 1;
        struct couplings sums;
        if (!choose_aggregates(fine, &couplings))
            break;
        *coarse = level_of((fine->nx + fine->cells_x - 1) / fine->cells_x,
                           (fine->ny + fine->cells_y - 1) / fine->cells_y);
        is_done = take_level_memory(keeper, coarse) && take_couplings(&sums, elements_of(coarse));
        if (!is_done)
            break;
        add_cells(fine, &couplings, coarse, &sums);
        free(couplings.east);
        couplings = sums;
        is_done = put_level(keeper, coarse, &couplings);
    }
    free(couplings.east);
    return is_done;
}

#endif
