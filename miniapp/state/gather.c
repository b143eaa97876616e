/* The planes of a field, from all blocks of an ocean. */
#include "exchange.h"
#include "ranks.h"
#include "status.h"

#include <stdlib.h>
#include <string.h>

/* A field's planes in a grid. */
struct planes {
    size_t nx, ny;
};

static struct planes planes_of(const struct miniapp_field *field, const struct miniapp_grid *grid)
{
    return (struct planes){has_axis(field, MINIAPP_X) ? grid->nx : 1,
                           has_axis(field, MINIAPP_Y) ? grid->ny : 1};
}

/* The part of a plane that a block stands for; a field without an axis is as long there as one
 * cell, which the first blocks have. */
static struct part part_of_field(const struct miniapp_field *field, const struct blocks *blocks,
                                 const struct block *block, bool ghosts)
{
    struct part part = part_of_block(blocks, block, ghosts);
    if (!has_axis(field, MINIAPP_X)) {
        part.x0 = 0;
        part.nx = block->x == 0;
    }
    if (!has_axis(field, MINIAPP_Y)) {
        part.y0 = 0;
        part.ny = block->y == 0;
    }
    return part;
}

static void copy_part(const double *from, size_t from_nx, double *to, size_t to_nx, size_t nx,
                      size_t ny)
{
    for (size_t y = 0; y < ny; y++)
        memcpy(to + y * to_nx, from + y * from_nx, nx * sizeof(*to));
}

/* Where a block's part lies in the plane of the whole. */
static double *place_of(double *plane, const struct miniapp_field *field, const struct block *block,
                        const struct part *part, bool ghosts, size_t nx)
{
    const size_t edge = ghosts ? 0 : MINIAPP_HALO;
    const size_t x = has_axis(field, MINIAPP_X) ? block->x0 + part->x0 - edge : 0;
    const size_t y = has_axis(field, MINIAPP_Y) ? block->y0 + part->y0 - edge : 0;
    return plane + y * nx + x;
}

static void collect_parts(const struct miniapp_field *field, const struct blocks *blocks,
                          bool ghosts, double *part_values, double *plane)
{
    const struct miniapp_grid inner = miniapp_grid_interior(&blocks->whole);
    const size_t nx = planes_of(field, ghosts ? &blocks->whole : &inner).nx;
    for (int rank = 0; rank < ranks_count(); rank++) {
        const struct block block = block_of(blocks, rank);
        const struct part part = part_of_field(field, blocks, &block, ghosts);
        if (part.nx * part.ny == 0)
            continue;
        if (rank > 0)
            ranks_receive(rank, part_values, part.nx * part.ny * sizeof(*part_values));
        copy_part(part_values, part.nx, place_of(plane, field, &block, &part, ghosts, nx), nx,
                  part.nx, part.ny);
    }
}

/* All of it goes through the first process, which holds no more than a plane. */
static void gather(struct miniapp_state *state, const struct slot *slot, const double *own,
                   bool ghosts, double *part_values, double *plane)
{
    const struct blocks *const blocks = exchange_blocks(state);
    const struct block block = block_of(blocks, ranks_own());
    const struct part part = part_of_field(slot->field, blocks, &block, ghosts);
    const size_t nx = planes_of(slot->field, &state->grid).nx;
    copy_part(own + part.y0 * nx + part.x0, nx, part_values, part.nx, part.nx, part.ny);
    if (ranks_own() == 0)
        collect_parts(slot->field, blocks, ghosts, part_values, plane);
    else
        ranks_send(0, part_values, part.nx * part.ny * sizeof(*part_values));
}

/* Blocks differ by a row and a column, and by the ghosts of the whole. */
static size_t most_elements(const struct planes *planes)
{
    return (planes->nx + 1) * (planes->ny + 1);
}

enum miniapp_status miniapp_state_gather(struct miniapp_state *state, const char *name,
                                         size_t plane, bool with_ghosts, double *values)
{
    struct slot *const slot = state_slot(state, name);
    if (!slot)
        return MINIAPP_USAGE;
    const struct planes planes = planes_of(slot->field, &state->grid);
    const size_t elements = planes.nx * planes.ny;
    const size_t room = most_elements(&planes);
    double *const own = malloc((elements + room) * sizeof(*own));
    enum miniapp_status status =
        own ? miniapp_state_get_part(state, name, plane * elements, elements, own)
            : fail(MINIAPP_DEVICE, "out of memory for a plane of '%s'", name);
    if (state->exchange && status)
        ranks_abort(status); /* others wait for this part */
    if (state->exchange) {
        gather(state, slot, own, with_ghosts, own + elements, values);
    } else if (!status) {
        const size_t west = with_ghosts || planes.nx == 1 ? 0 : MINIAPP_HALO;
        const size_t south = with_ghosts || planes.ny == 1 ? 0 : MINIAPP_HALO;
        const size_t nx = planes.nx - 2 * west, ny = planes.ny - 2 * south;
        copy_part(own + south * planes.nx + west, planes.nx, values, nx, nx, ny);
    }
    free(own);
    return status;
}
