#include "blocks.h"
#include "status.h"
#include "table.h"

static size_t inner(size_t cells)
{
    return cells - 2 * MINIAPP_HALO;
}

/* Where block number `place` of `count` starts among the cells of an axis. */
static size_t block_start(size_t cells, int place, int count)
{
    const size_t each = cells / (size_t)count, more = cells % (size_t)count;
    const size_t before = (size_t)place;
    return before * each + (before < more ? before : more);
}

static size_t block_length(size_t cells, int place, int count)
{
    return block_start(cells, place + 1, count) - block_start(cells, place, count);
}

/* ---- choosing ---- */

/* The length, in cells, of those edges of the largest block that have other blocks beyond them. */
static size_t surface(const struct miniapp_grid *whole, int along_x, int along_y)
{
    const size_t nx = block_length(inner(whole->nx), 0, along_x);
    const size_t ny = block_length(inner(whole->ny), 0, along_y);
    return (along_y > 1 ? 2 * nx : 0) + (along_x > 1 ? 2 * ny : 0);
}

static bool has_room(const struct miniapp_grid *whole, int along_x, int along_y)
{
    return (size_t)along_x <= inner(whole->nx) && (size_t)along_y <= inner(whole->ny);
}

static void choose_blocks(const struct miniapp_grid *whole, int ranks, struct blocks *blocks)
{
    for (int x = 1; x <= ranks; x++)
        if (ranks % x == 0 && has_room(whole, x, ranks / x) &&
            (blocks->along_x == 0 ||
             surface(whole, x, ranks / x) < surface(whole, blocks->along_x, blocks->along_y))) {
            blocks->along_x = x;
            blocks->along_y = ranks / x;
        }
}

enum miniapp_status blocks_cut(const struct miniapp_grid *whole, int ranks, int along_x,
                               int along_y, struct blocks *blocks)
{
    *blocks = (struct blocks){*whole, along_x, along_y};
    if (along_x == 0)
        choose_blocks(whole, ranks, blocks);
    if (blocks->along_x == 0)
        return fail(MINIAPP_USAGE, "%d processes cannot share %zu x %zu columns", ranks,
                    inner(whole->nx), inner(whole->ny));
    if (along_x && !has_room(whole, along_x, along_y))
        return fail(MINIAPP_USAGE, "--decompose %dx%d: there are only %zu x %zu columns to share",
                    along_x, along_y, inner(whole->nx), inner(whole->ny));
    return MINIAPP_DONE;
}

/* ---- one block ---- */

struct block block_of(const struct blocks *blocks, int rank)
{
    const struct miniapp_grid *const whole = &blocks->whole;
    const int x = rank % blocks->along_x, y = rank / blocks->along_x;
    return (struct block){
        .grid = {block_length(inner(whole->nx), x, blocks->along_x) + 2 * MINIAPP_HALO,
                 block_length(inner(whole->ny), y, blocks->along_y) + 2 * MINIAPP_HALO, whole->nz},
        .x0 = block_start(inner(whole->nx), x, blocks->along_x),
        .y0 = block_start(inner(whole->ny), y, blocks->along_y),
        .x = x,
        .y = y,
    };
}

int rank_of(const struct blocks *blocks, int x, int y, bool cyclic_x)
{
    if (cyclic_x)
        x = (x + blocks->along_x) % blocks->along_x;
    if (x < 0 || x >= blocks->along_x || y < 0 || y >= blocks->along_y)
        return -1;
    return y * blocks->along_x + x;
}

size_t least_cells(const struct blocks *blocks, enum miniapp_axis axis)
{
    return axis == MINIAPP_X ? inner(blocks->whole.nx) / (size_t)blocks->along_x
                             : inner(blocks->whole.ny) / (size_t)blocks->along_y;
}

/* ---- planes ---- */

struct planes planes_of(const struct miniapp_field *field, const struct miniapp_grid *grid)
{
    struct planes planes = {.nx = has_axis(field, MINIAPP_X) ? grid->nx : 1,
                            .ny = has_axis(field, MINIAPP_Y) ? grid->ny : 1};
    planes.elements = planes.nx * planes.ny;
    planes.count = miniapp_field_elements(field, grid) / planes.elements;
    return planes;
}

static struct stretch stretch_of(bool is_there, bool ghosts, int place, int blocks, size_t cells,
                                 size_t first, size_t all)
{
    const size_t low = ghosts && place == 0 ? 0 : MINIAPP_HALO;
    const size_t high = ghosts && place == blocks - 1 ? 0 : MINIAPP_HALO;
    const size_t edge = ghosts ? 0 : MINIAPP_HALO;
    if (!is_there)
        return (struct stretch){0, place == 0, 1, 0, 1};
    return (struct stretch){low, cells - low - high, cells, first + low - edge, all - 2 * edge};
}

struct part part_of_rank(const struct blocks *blocks, int rank, const struct miniapp_field *field,
                         bool ghosts)
{
    const struct block block = block_of(blocks, rank);
    return (struct part){stretch_of(has_axis(field, MINIAPP_X), ghosts, block.x, blocks->along_x,
                                    block.grid.nx, block.x0, blocks->whole.nx),
                         stretch_of(has_axis(field, MINIAPP_Y), ghosts, block.y, blocks->along_y,
                                    block.grid.ny, block.y0, blocks->whole.ny)};
}
