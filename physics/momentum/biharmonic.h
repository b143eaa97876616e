/*
 * The factors of biharmonic friction in a row. It is harmonic friction twice, each time with the
 * root of the viscosity; the second time acts on the first one's result.
 */
#ifndef BIHARMONIC_H
#define BIHARMONIC_H

#include "faces.h"
#include "maths.h"

/* The root of the viscosity where the cosine of latitude is this one. */
INLINED real root_of_viscosity(const struct arguments *a, real cosine)
{
    return square_root(a->A_hbi) *
           square_root(whole_power(cosine, a->biharmonic_friction_cosPower));
}

/* Those of u or v in row y. A flux of v to the north has the viscosity of the T row to its south,
 * as in Veros; one of harmonic friction has that of its own T row. */
INLINED struct spreading spreading_in(const struct arguments *a, count y, bool is_u)
{
    const real at_walls = a->enable_noslip_lateral ? 2 : 0;
    const real at_t = root_of_viscosity(a, a->cost[y]), at_u = root_of_viscosity(a, a->cosu[y]);
    if (is_u)
        return (struct spreading){.east = at_t / a->cost[y],
                                  .north = at_u * a->cosu[y] / a->dyu[y],
                                  .south = root_of_viscosity(a, a->cosu[y - 1]) * a->cosu[y - 1] /
                                           a->dyu[y - 1],
                                  .per_cosine = 1 / a->cost[y],
                                  .per_dy = 1 / (a->cost[y] * a->dyt[y]),
                                  .at_walls_y = at_walls};
    return (struct spreading){.east = at_u / a->cosu[y],
                              .north = at_t * a->cost[y + 1] / a->dyt[y + 1],
                              .south =
                                  root_of_viscosity(a, a->cost[y - 1]) * a->cost[y] / a->dyt[y],
                              .per_cosine = 1 / a->cosu[y],
                              .per_dy = 1 / (a->cosu[y] * a->dyu[y]),
                              .at_walls_x = at_walls};
}

/* ---- rows of faces ---- */

/* Faces of a chunk. */
struct face_row {
    struct spreading spreading;
    level here[ROW_CHUNK], east[ROW_CHUNK], west[ROW_CHUNK], north[ROW_CHUNK], south[ROW_CHUNK];
    level deep[ROW_CHUNK];
    real per_dx[ROW_CHUNK], per_dx_east[ROW_CHUNK], per_dx_west[ROW_CHUNK];
};

/* The faces of row y that lie `before` cells to the west of the cells of a chunk. */
INLINED void fill_face_row(const struct arguments *a, struct face_row *f, bool is_u, count y,
                           count before, struct span chunk)
{
    f->spreading = spreading_in(a, y, is_u);
    ALONG_X
    for (count x = chunk.begin; x < chunk.end; x++) {
        const count at = x - chunk.begin, face = x - before;
        const struct depths wet = depths_at(a, y * a->nx + face, is_u ? 1 : a->nx);
        f->here[at] = wet.here;
        f->east[at] = wet.east;
        f->west[at] = wet.west;
        f->north[at] = wet.north;
        f->south[at] = wet.south;
        f->deep[at] = wet.deep;
        f->per_dx[at] = 1 / (is_u ? a->dxu[face] : a->dxt[face]);
        f->per_dx_east[at] = 1 / (is_u ? a->dxt[face + 1] : a->dxu[face]);
        f->per_dx_west[at] = 1 / (is_u ? a->dxt[face] : a->dxu[face - 1]);
    }
}

/* spread_face for face `at` of a chunk, which is element i of the fields. */
INLINED real spread_one(const struct arguments *a, const struct face_row *f, const real *spread,
                        const real *flow, count k, count i, count at, real *lost)
{
    const struct depths wet = {f->here[at],  f->east[at],  f->west[at],
                               f->north[at], f->south[at], f->deep[at]};
    return spread_face(&f->spreading, spread + i, flow + i, 0, a->nx, (level)k, wet, f->per_dx[at],
                       f->per_dx_east[at], f->per_dx_west[at], lost);
}

#endif
