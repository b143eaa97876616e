/*
 * Tiles of a grid: a thread of the host does all of a kernel's work on a tile while the tile is in
 * its caches. On a GPU a tile is one point, which compilers can see.
 *
 * A kernel whose second nest reads much of what its first nest has just written takes both through
 * a tile of levels and rows:
 *
 *     TILE_OF(nz, ny, levels, rows);
 *     PARALLEL_ROWS
 *     for (count z0 = 0; z0 < nz; z0 += levels)
 *         for (count y0 = 0; y0 < ny; y0 += rows)
 *             for (count x0 = 0; x0 < nx; x0 += ROW_CHUNK)
 *                 for (count z = z0; z < TILE_END(z0, levels, nz); z++)
 *                     for (count y = y0; y < TILE_END(y0, rows, ny); y++)
 *
 * A nest of columns may take the columns of several rows together, level by level: the hardware
 * prefetches only along a long run of addresses, and one row of a level is too short.
 *
 *     const count rows = ROWS_TOGETHER(ny);
 *     PARALLEL_COLUMNS
 *     for (count y0 = 0; y0 < ny; y0 += rows)
 *         for (count z = 0; z < nz; z++)
 *             for (count y = y0; y < TILE_END(y0, rows, ny); y++)
 *
 * Tiles are balanced: the busiest thread has at most a sixteenth more work than the mean.
 */
#ifndef PHYSICS_TILE_H
#define PHYSICS_TILE_H

#include "directives.h"

#include <stdbool.h>

#define MOST_ROWS_TOGETHER 12
#define TILES_ARE_POINTS HOST_OR_OFFLOAD(false, true)

#if defined(PHYSICS_OFFLOAD)
#define TILE_OF(nz, ny, levels, rows) enum { levels = 1, rows = 1 }
#define TILE_END(begin, size, end) ((begin) + 1)
#define ROWS_TOGETHER(ny) 1
#else
#define TILE_OF(nz, ny, levels, rows)                                                              \
    const struct tile tile = tile_of(nz, ny);                                                      \
    const count levels = tile.levels, rows = tile.rows
#define TILE_END(begin, size, end) ((end) - (begin) < (size) ? (end) : (begin) + (size))
#define ROWS_TOGETHER(ny) rows_together(ny)

struct tile {
    count levels, rows;
};

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

/* The number of rows from y0 on, at most `rows`. Compilers do not see that it is 1 on a GPU; in
 * loops over columns alone they make better code of it than of TILE_END. */
static inline count rows_left(count rows, count y0, count ny)
{
    return rows < ny - y0 ? rows : ny - y0;
}

#endif
