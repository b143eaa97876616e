/* How an ocean is cut along x and y into blocks, one for each rank. */
#ifndef BLOCKS_H
#define BLOCKS_H

#include <miniapp/field.h>
#include <miniapp/status.h>
#include <stdbool.h>

struct blocks {
    struct miniapp_grid whole; /* with its ghosts */
    int along_x, along_y;      /* how many */
};

/* A part of the ocean with its ghosts; its first cell is cell (x0, y0) of the whole. */
struct block {
    struct miniapp_grid grid;
    size_t x0, y0;
    int x, y; /* its place among the blocks */
};

/* Cuts an ocean into blocks for so many ranks: `along_x` by `along_y` or, if these are 0, so that
 * the blocks exchange the fewest ghosts and, among such cuts, the longest rows. MINIAPP_USAGE if
 * there are more blocks than columns along an axis. */
enum miniapp_status blocks_cut(const struct miniapp_grid *whole, int ranks, int along_x,
                               int along_y, struct blocks *blocks);

/* The block of a rank. Blocks that are neighbours along x have neighbouring ranks. */
struct block block_of(const struct blocks *blocks, int rank);

/* The rank of a block; -1 beyond the edge of an ocean that is not cyclic there. */
int rank_of(const struct blocks *blocks, int x, int y, bool cyclic_x);

/* The fewest interior cells that any block has, along x or along y. */
size_t least_cells(const struct blocks *blocks, enum miniapp_axis axis);

/* The planes of a field along y and x, in which it passes from a state to a file or to other
 * processes: how many, their elements, and those along x and y, 1 where it lacks the axis. */
struct planes {
    size_t count, elements, nx, ny;
};
struct planes planes_of(const struct miniapp_field *field, const struct miniapp_grid *grid);

/* The part of a field's plane that belongs to a rank's block: its interior and, if ghosts are
 * wanted, those at the edges of the ocean. Each cell of the whole belongs to exactly one block; if
 * a field lacks an axis, its only cell along that axis belongs to the first block. */
struct part {
    struct stretch {
        size_t start, count, all; /* in the block's plane, which has `all` along the axis */
        size_t whole_start, whole_all;
    } x, y;
};
struct part part_of_rank(const struct blocks *blocks, int rank, const struct miniapp_field *field,
                         bool ghosts);

#endif
