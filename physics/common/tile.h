/*
 * Tiles of a grid, on the host: a thread does all of a kernel's work on a tile while the tile is in
 * its caches.
 *
 * A kernel whose second nest reads much of what its first nest has just written takes both through
 * a tile of levels and rows: isoneutral.c is the example.
 */
#ifndef PHYSICS_TILE_H
#define PHYSICS_TILE_H

#include "rows.h"

#if !defined(PHYSICS_OFFLOAD)

struct tile {
    count levels, rows;
};

/* Where a tile, or a run of rows, that begins here ends. */
static inline count tile_end(count begin, count size, count end)
{
    return end - begin < size ? end : begin + size;
}

/* The fraction of a tile's rows whose second nest reads nothing from other tiles. */
static inline double share_inside(struct tile t, count nz)
{
    const double of_levels = t.levels < nz ? 1 - 1.0 / (double)t.levels : 1;
    return of_levels * (1 - 1.0 / (double)t.rows);
}

/* The most levels that a tile can have if there are to be more tiles; 0 after 1. */
static inline count fewer_levels(count levels, count nz)
{
    return levels > 1 ? parts(nz, parts(nz, levels - 1)) : 0;
}

/* The balanced tile of up to 16 rows with the largest share_inside; one row of one level if none
 * is balanced. */
static inline struct tile tile_of(count nz, count ny)
{
    const count threads = omp_get_max_threads(), most_rows = 16;
    struct tile best = {1, 1};
    if (threads == 1)
        return (struct tile){nz, most_rows};
    for (count levels = nz; levels > 0; levels = fewer_levels(levels, nz))
        for (count rows = 2; rows <= most_rows; rows++) {
            const struct tile t = {levels, rows};
            const count tiles = parts(nz, levels) * parts(ny, rows);
            if (shares_evenly(tiles, levels * rows, nz * ny, threads) &&
                share_inside(t, nz) > share_inside(best, nz))
                best = t;
        }
    return best;
}

#endif

#endif
