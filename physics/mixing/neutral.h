/*
 * The slopes of neutral surfaces at the corners of a cell, after Griffies et al. (1998) as in
 * Veros. isoneutral.c defines a corner, its slope and its taper.
 */
#ifndef NEUTRAL_H
#define NEUTRAL_H

#include "bytes.h"
#include "eos/expansion.h"
#include "maths.h"
#include "power.h"
#include "span.h"

#include <stdbool.h>

#define EPSLN ((real)1e-20) /* the least density gradient, so that slopes stay finite */

/* The factor of |s| in the exponent of a taper, where exp(2 (|s| - iso_slopec) / iso_dslope) is
 * written as a power of 2. */
INLINED double rate_of_taper(double iso_dslope)
{
    const double log2_e = 1.4426950408889634074;
    return 2 * log2_e / iso_dslope;
}

/* Equations of state 1 to 4 at THETA_0, and taper = 1 / (1 + 2^(taper_rate |s| - taper_offset)). */
#define DERIVED(VALUE)                                                                             \
    VALUE(real, drdT, linear_expansion(eq_of_state_type).drdT)                                     \
    VALUE(real, drdT_by_T, linear_expansion(eq_of_state_type).drdT_by_T)                           \
    VALUE(real, drdT_by_depth, linear_expansion(eq_of_state_type).drdT_by_depth)                   \
    VALUE(real, drdS, linear_expansion(eq_of_state_type).drdS)                                     \
    VALUE(real, taper_rate, (real)rate_of_taper(iso_dslope))                                       \
    VALUE(real, taper_offset, (real)(rate_of_taper(iso_dslope) * iso_slopec))
#include "arguments.h"

/* A level. Its offset to a neighbour that does not exist is 0, so that differences are 0 and
 * nothing outside the array is read. */
struct neutral_level {
    count below, above; /* offsets to the neighbours */
    real depth, drdT;
    real dzw_below, dzw_above;
    real per_dzw_below, per_dzw_above;
    real per_4_dzt;
    real has_below;
};

INLINED struct neutral_level neutral_level(const struct arguments *a, count z)
{
    const count below = z > 0;
    const count above = z < a->nz - 1;
    const real depth = magnitude(a->zt[z]);
    return (struct neutral_level){
        .below = below * a->ny * a->nx,
        .above = above * a->ny * a->nx,
        .depth = depth,
        .drdT = a->drdT + a->drdT_by_depth * depth,
        .dzw_below = below * a->dzw[z - below],
        .dzw_above = a->dzw[z],
        .per_dzw_below = 1 / a->dzw[z - below],
        .per_dzw_above = 1 / a->dzw[z],
        .per_4_dzt = 1 / (4 * a->dzt[z]),
        .has_below = below,
    };
}

/* The source of a cell's masks: the arrays or, if a loop has packed them, these bits: CELL, BOTTOM
 * and TOP are the cell itself, its bottom face and its top face. */
struct masks {
    bool are_packed;
    int32_t bits;
};
enum { CELL, BOTTOM, TOP, BITS_OF_CELL };
#define STORED ((struct masks){false, 0})

INLINED struct masks masks_in(int32_t bits)
{
    return (struct masks){BYTES_COST_LANES, bits};
}

INLINED int32_t bits_of_cell(const struct arguments *a, const struct neutral_level *l, count i)
{
    return a->maskT[i] << CELL | a->maskW[i - l->below] << BOTTOM | a->maskW[i] << TOP;
}

INLINED real mask_of(const uint8_t *stored, count i, struct masks m, int bit)
{
    if (m.are_packed)
        return m.bits & 1 << bit ? 1 : 0;
    return stored[i];
}

/* drdT and drdS at a T cell; 0 on land. */
INLINED struct expansion expansion_of_cell(const struct arguments *a, const struct neutral_level *l,
                                           struct masks m, count i, bool teos)
{
    const real maskT = mask_of(a->maskT, i, m, CELL);
    const real t = a->temp[i];
    struct expansion r = {l->drdT + a->drdT_by_T * (t - (real)THETA_0), a->drdS};
    if (teos)
        r = teos10_expansion(a->salt[i], t, l->depth);
    return (struct expansion){maskT * r.drdT, maskT * r.drdS};
}

/* The difference of density between two cells. */
INLINED real drho(const struct arguments *a, struct expansion r, count from, count to)
{
    return r.drdT * (a->temp[to] - a->temp[from]) + r.drdS * (a->salt[to] - a->salt[from]);
}

/* The part of a slope that the corners of a T cell share: it is drodx * per_drodz. */
struct neutral_cell {
    struct expansion r;
    real per_drodz_below, per_drodz_above;
};

INLINED real per_drodz(real drodz)
{
    return 1 / larger(EPSLN, EPSLN - drodz);
}

/* The lowest cell has no corners below it, so the slopes there are 0. */
INLINED struct neutral_cell neutral_cell(const struct arguments *a, const struct neutral_level *l,
                                         struct masks m, count i, bool teos)
{
    const struct expansion r = expansion_of_cell(a, l, m, i, teos);
    const count below = i - l->below;
    const count above = i + l->above;
    return (struct neutral_cell){
        r,
        l->has_below * per_drodz(mask_of(a->maskW, below, m, BOTTOM) * l->per_dzw_below *
                                 drho(a, r, below, i)),
        per_drodz(mask_of(a->maskW, i, m, TOP) * l->per_dzw_above * drho(a, r, i, above)),
    };
}

/* put_NAME and get_NAME keep a structure NAME of reals in rows of memory that lie `stride` apart,
 * one for each of its VALUES. */
#define KEPT_IN_ROWS(name, VALUES)                                                                 \
    INLINED void put_##name(real *to, count stride, struct name kept)                              \
    {                                                                                              \
        count row = 0;                                                                             \
        VALUES(PUT_IN_ROW)                                                                         \
    }                                                                                              \
    INLINED struct name get_##name(const real *from, count stride)                                 \
    {                                                                                              \
        struct name kept = {0};                                                                    \
        count row = 0;                                                                             \
        VALUES(GET_FROM_ROW)                                                                       \
        return kept;                                                                               \
    }
#define PUT_IN_ROW(value) to[row++ * stride] = kept.value;
#define GET_FROM_ROW(value) kept.value = from[row++ * stride];
#define COUNT_ROW(value) +1

/* The members of a neutral_cell. */
#define CELL_VALUES(VALUE) VALUE(r.drdT) VALUE(r.drdS) VALUE(per_drodz_below) VALUE(per_drodz_above)
enum { CELL_ROWS = CELL_VALUES(COUNT_ROW) };
KEPT_IN_ROWS(neutral_cell, CELL_VALUES)

/* Stores up to ROW_CHUNK + 1 cells of the row that begins at cell `row`, from in.begin on. */
INLINED void keep_cells(const struct arguments *arguments, const struct neutral_level *level,
                        count row, struct span in, real *cells, count stride, bool teos)
{
    const struct arguments a = *arguments;
    const struct neutral_level l = *level;
    int32_t masks[ROW_CHUNK + 1];
    if (BYTES_COST_LANES) {
        ALONG_X
        for (count x = in.begin; x < in.end; x++)
            masks[x - in.begin] = bits_of_cell(&a, &l, row + x);
    }
    ALONG_X
    for (count x = in.begin; x < in.end; x++) {
        const count p = x - in.begin;
        const struct masks m = masks_in(BYTES_COST_LANES ? masks[p] : 0);
        put_neutral_cell(cells + p, stride, neutral_cell(&a, &l, m, row + x, teos));
    }
}

/* The mean of the four cells about a lateral face and the level below. */
INLINED real mean_of_four(const real *K, count i, count j, count below)
{
    return (real)0.25 * (K[i] + K[i - below] + K[j] + K[j - below]);
}

/* The slopes of a lateral face's corners: in the cell here and in the next one, with the faces
 * below and above these. */
struct slopes {
    real here_below, next_below, here_above, next_above;
};

/* Those of the face between cells i and j; `per_dx` is 0 where it is closed. */
INLINED struct slopes slopes_of_face(const struct arguments *a, count i, count j, real per_dx,
                                     struct neutral_cell here, struct neutral_cell next)
{
    const real drodx_here = per_dx * drho(a, here.r, i, j);
    const real drodx_next = per_dx * drho(a, next.r, i, j);
    return (struct slopes){
        .here_below = drodx_here * here.per_drodz_below,
        .next_below = drodx_next * next.per_drodz_below,
        .here_above = drodx_here * here.per_drodz_above,
        .next_above = drodx_next * next.per_drodz_above,
    };
}

/* From 1 for gentle slopes to 0 for steep ones. */
INLINED real taper(const struct arguments *a, real s)
{
    return logistic_of_2(a->taper_rate * magnitude(s) - a->taper_offset);
}

#endif
