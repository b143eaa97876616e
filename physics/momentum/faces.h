/*
 * Faces of u and v, and lateral friction between them, for momentum and the frictions after it.
 *
 * A level of a face is wet where it is wet in both cells beside it. A number says which levels
 * those are: the lowest one, or DRY.
 */
#ifndef FACES_H
#define FACES_H

#include "arguments.h"
#include "maths.h"

#include <stdbool.h>

/* GCC computes as many points at a time as a vector holds of a loop's narrowest type. */
#if defined(__clang__) || defined(PHYSICS_OFFLOAD)
typedef int32_t level;
#else
typedef __typeof__(_Generic((real)0, float: (int32_t)0, double: (int64_t)0)) level;
#endif
#define DRY ((level)1000000000)

INLINED level lowest_wet(int32_t kbot)
{
    return kbot > 0 ? (level)(kbot - 1) : DRY;
}

/* The lowest wet level of a face between two cells. */
INLINED level both_wet(int32_t kbot, int32_t beside)
{
    const level here = lowest_wet(kbot), there = lowest_wet(beside);
    return here > there ? here : there;
}

/* Where Veros lets the dissipation of a face begin: also on a coast, whose face is dry. */
INLINED level deepest(int32_t kbot, int32_t beside)
{
    return lowest_wet(kbot > beside ? kbot : beside);
}

/* The lowest wet levels of a face and those beside it; where its dissipation begins. */
struct depths {
    level here, east, west, north, south, deep;
};

/* The lowest wet levels about a face, the lower one of whose cells is `column`. */
INLINED struct depths depths_at(const struct arguments *a, count column, count beside)
{
    const count nx = a->nx;
    const int32_t *const kbot = a->kbot + column, *const other = kbot + beside;
    return (struct depths){both_wet(kbot[0], other[0]),     both_wet(kbot[1], other[1]),
                           both_wet(kbot[-1], other[-1]),   both_wet(kbot[nx], other[nx]),
                           both_wet(kbot[-nx], other[-nx]), deepest(kbot[0], other[0])};
}

/* The factors of lateral friction of u or v in a row: a flux is such a factor times a difference
 * of the flow, and what goes east is divided by its distance, too. */
struct spreading {
    real east, north, south, per_cosine, per_dy;
    real at_walls_x, at_walls_y; /* 2 where a wall beside the flow lets nothing slip, or 0 */
};

/* A flux against a difference: half a cell from a wall without slip, none into one with it. */
INLINED real stress(bool wet, bool wet_beside, real at_walls, real factor, real difference)
{
    const bool both = wet & wet_beside, either = wet | wet_beside;
    const real open = both ? 1 : either ? at_walls : 0;
    return open * factor * difference;
}

/* The tendency of differences of `spread`, and what their fluxes take from the flow, in *lost. By
 * harmonic friction, the flow itself is spread. */
INLINED real spread_face(const struct spreading *s, const real *spread, const real *flow, count i,
                         count nx, level k, struct depths wet, real per_dx, real per_dx_east,
                         real per_dx_west, real *lost)
{
    const bool is_wet = wet.here <= k;
    const real here = spread[i];
    const real to_east = spread[i + 1] - here, from_west = here - spread[i - 1];
    const real to_north = spread[i + nx] - here, from_south = here - spread[i - nx];
    const real east = stress(is_wet, wet.east <= k, s->at_walls_x, s->east * per_dx_east, to_east);
    const real west =
        stress(is_wet, wet.west <= k, s->at_walls_x, s->east * per_dx_west, from_west);
    const real north = stress(is_wet, wet.north <= k, s->at_walls_y, s->north, to_north);
    const real south = stress(is_wet, wet.south <= k, s->at_walls_y, s->south, from_south);
    const real in_x = s->per_cosine * per_dx, in_y = s->per_dy;
    *lost = (in_x * ((flow[i + 1] - flow[i]) * east + (flow[i] - flow[i - 1]) * west) +
             in_y * ((flow[i + nx] - flow[i]) * north + (flow[i] - flow[i - nx]) * south)) /
            2;
    const real tendency = in_x * (east - west) + in_y * (north - south);
    return is_wet ? tendency : 0;
}

/* Half of a level's loss goes to the W point above it and half to the one below; what would go
 * below the lowest level stays in it. As in Veros, a coast's dry face has a part as well. */
INLINED real on_wgrid(const struct arguments *a, count k, real back, level deep, real lost,
                      real lost_above)
{
    const level now = (level)k;
    const real inside = k < a->nz - 1 ? (lost + lost_above) / 2 : lost;
    return deep < now ? inside : deep == now ? inside + back * lost : 0;
}

INLINED double mean_of(double sum, double height)
{
    return height > 0 ? sum / height : 0;
}

#endif
