/*
 * Tiles of a grid, on the host: a thread does all of a kernel's work on a tile while the tile is in
 * its caches.
 *
 * A kernel whose second nest reads much of what its first nest has just written takes both through
 * a tile of levels and rows: isoneutral.c is the example.
 *
 * A nest of columns may take the columns of several rows together, level by level: the hardware
 * prefetches only along a long run of addresses, and one row of a level is too short. A GPU takes
 * one.
 *
 *     const count rows = rows_together(ny);
 *     PARALLEL_COLUMNS
 *     for (count y0 = 0; y0 < ny; y0 += rows)
 *         for (count z = 0; z < nz; z++)
 *             for (count y = y0; y < y0 + rows_left(rows, y0, ny); y++)
 *
 * Tiles are balanced: the busiest thread has at most a sixteenth more work than the mean.
 */
#ifndef PHYSICS_TILE_H
#define PHYSICS_TILE_H

#include "directives.h"

#include <stdbool.h>

#define MOST_ROWS_TOGETHER 12

#if defined(PHYSICS_OFFLOAD)

#define rows_together(ny) 1 /* a literal, of which compilers make use in a nest */

#else

struct tile {
    count levels, rows;
};

/* Where a tile, or a run of rows, that begins here ends. */
static inline count tile_end(count begin, count size, count end)
{
    return end - begin < size ? end : begin + size;
}

/* The number of parts of a size that cover the whole. */
static inline count parts(count whole, count size)
{
    return (whole + size - 1) / size;
}

static inline bool shares_evenly(struct tile t, count nz, count ny, count threads)
{
    const count tiles = parts(nz, t.levels) * parts(ny, t.rows);
    const count most = parts(tiles, threads) * t.levels * t.rows;
    return threads == 1 || 16 * most * threads <= 17 * nz * ny;
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
            if (shares_evenly(t, nz, ny, threads) && share_inside(t, nz) > share_inside(best, nz))
                best = t;
        }
    return best;
}

/* The most rows, up to MOST_ROWS_TOGETHER, that are balanced; at least one. */
static inline count rows_together(count ny)
{
    const count threads = omp_get_max_threads();
    count rows = MOST_ROWS_TOGETHER;
    while (rows > 1 && !shares_evenly((struct tile){1, rows}, 1, ny, threads))
        rows--;
    return rows;
}

#endif

/* The number of rows from y0 on, at most `rows`. */
static inline count rows_left(count rows, count y0, count ny)
{
    return rows < ny - y0 ? rows : ny - y0;
}

#endif
