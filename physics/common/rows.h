/*
 * Rows that are taken together. A nest of columns may take the columns of several rows, level by
 * level: the hardware prefetches only along a long run of addresses, and one row of a level is too
 * short. A GPU takes one.
 *
 *     const count rows = rows_together(ny);
 *     PARALLEL_COLUMNS
 *     for (count y0 = 0; y0 < ny; y0 += rows)
 *         for (count z = 0; z < nz; z++)
 *             for (count y = y0; y < y0 + rows_left(rows, y0, ny); y++)
 */
#ifndef PHYSICS_ROWS_H
#define PHYSICS_ROWS_H

#include "directives.h"

#include <stdbool.h>

#define MOST_ROWS_TOGETHER 12

#if defined(PHYSICS_OFFLOAD)

#define rows_together(ny) 1 /* a literal, of which compilers make use in a nest */

#else

/* The number of parts of a size that cover the whole. */
static inline count parts(count whole, count size)
{
    return (whole + size - 1) / size;
}

/* Whether threads that share tiles of some size are balanced: the busiest one has at most a
 * sixteenth more work than the mean. */
static inline bool shares_evenly(count tiles, count size, count whole, count threads)
{
    const count most = parts(tiles, threads) * size;
    return threads == 1 || 16 * most * threads <= 17 * whole;
}

/* The most rows, up to MOST_ROWS_TOGETHER, that are balanced; at least one. */
static inline count rows_together(count ny)
{
    const count threads = omp_get_max_threads();
    count rows = MOST_ROWS_TOGETHER;
    while (rows > 1 && !shares_evenly(parts(ny, rows), rows, ny, threads))
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
