/*
 * Vertical mixing of one tracer, or of two that share their matrix, implicit in time: a tridiagonal
 * system for each column of water,
 *
 *     T' = T + dt d/dz kappaH dT'/dz,     kappaH dT'/dz = forc_surface at the surface.
 *
 * Nothing goes through the bottom; on land tracers stay as they are. The argument `reduced` holds
 * the ratios of the reduced rows between the way up and the way down.
 */
#ifndef VERTICAL_MIXING_H
#define VERTICAL_MIXING_H

#include "arguments.h"
#include "span.h"
#include "tridiagonal.h"

#include <stdbool.h>
#include <stdint.h>

/* A tracer. */
struct mixed {
    real *taup1;
    const real *forc_surface;
};

INLINED struct reduced_row eliminate_cell(struct mixed t, count i, count column, real lower,
                                          real upper, real gained, struct reduced_row under)
{
    const struct tridiagonal_row row = {lower, 1, upper,
                                        t.taup1[i] + gained * t.forc_surface[column]};
    return eliminate(row, under);
}

/* `is_pair` is a literal: whether there is a second tracer. */
INLINED void eliminate_level(const struct arguments *a, struct mixed first, struct mixed second,
                             bool is_pair, count y, count k, struct span inside)
{
    const count nx = a->nx, ny = a->ny, top = a->nz - 1;
    const count below = k > 0 ? ny * nx : 0;
    const real through_floor = k > 0 ? a->dt_tracer / (a->dzw[k - 1] * a->dzt[k]) : 0;
    const real through_top = k < top ? a->dt_tracer / (a->dzw[k] * a->dzt[k]) : 0;
    const real from_surface = k == top ? a->dt_tracer / a->dzt[k] : 0;
    ALONG_X
    for (count x = inside.begin; x < inside.end; x++) {
        const count i = (k * ny + y) * nx + x, column = y * nx + x;
        const real is_wet = a->kbot[column] > 0 && k >= a->kbot[column] - 1;
        const real is_wet_below = a->kbot[column] > 0 && k > a->kbot[column] - 1;
        const real lower = -is_wet_below * through_floor * a->kappaH[i - below];
        const real upper = -is_wet * through_top * a->kappaH[i];
        const real gained = is_wet * from_surface;
        const real ratio = k > 0 ? a->reduced[i - below] : 0;
        const struct reduced_row under = {ratio, k > 0 ? first.taup1[i - below] : 0};
        const struct reduced_row reduced =
            eliminate_cell(first, i, column, lower, upper, gained, under);
        a->reduced[i] = reduced.ratio;
        first.taup1[i] = reduced.d;
        if (is_pair) {
            const struct reduced_row other = {ratio, k > 0 ? second.taup1[i - below] : 0};
            second.taup1[i] = eliminate_cell(second, i, column, lower, upper, gained, other).d;
        }
    }
}

INLINED void substitute_cell(const struct arguments *a, struct mixed t, count i)
{
    const struct reduced_row row = {a->reduced[i], t.taup1[i]};
    t.taup1[i] = substitute(row, t.taup1[i + a->ny * a->nx]);
}

/* The columns of a part of row y. */
INLINED void mix_columns(const struct arguments *a, struct mixed first, struct mixed second,
                         bool is_pair, count y, struct span inside)
{
    for (count k = 0; k < a->nz; k++)
        eliminate_level(a, first, second, is_pair, y, k, inside);
    for (count k = a->nz - 2; k >= 0; k--) {
        ALONG_X
        for (count x = inside.begin; x < inside.end; x++) {
            const count i = (k * a->ny + y) * a->nx + x;
            substitute_cell(a, first, i);
            if (is_pair)
                substitute_cell(a, second, i);
        }
    }
}

#endif
