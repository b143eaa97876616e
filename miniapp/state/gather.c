/* The planes of a field, from all blocks of an ocean. */
#include "exchange.h"
#include "ranks.h"
#include "status.h"

#include <stdlib.h>
#include <string.h>

static void copy_part(const double *from, size_t from_nx, double *to, size_t to_nx, size_t nx,
                      size_t ny)
{
    for (size_t y = 0; y < ny; y++)
        memcpy(to + y * to_nx, from + y * from_nx, nx * sizeof(*to));
}

static struct part part_of_rank(const struct miniapp_field *field, const struct blocks *blocks,
                                int rank, bool ghosts)
{
    const struct block block = block_of(blocks, rank);
    return part_of_block(blocks, &block, has_axis(field, MINIAPP_X), has_axis(field, MINIAPP_Y),
                         ghosts);
}

static void copy_own(const double *own, const struct part *part, double *values)
{
    copy_part(own + part->y0 * part->block_nx + part->x0, part->block_nx, values, part->nx,
              part->nx, part->ny);
}

/* All of it goes through the first process, which holds no more than a plane. */
static void gather(const struct miniapp_field *field, const struct blocks *blocks,
                   const double *own, bool ghosts, double *values, double *plane)
{
    const struct part part = part_of_rank(field, blocks, ranks_own(), ghosts);
    copy_own(own, &part, values);
    if (ranks_own() > 0)
        ranks_send(0, values, part.nx * part.ny * sizeof(*values));
    for (int rank = 0; rank < ranks_count() && ranks_own() == 0; rank++) {
        const struct part theirs = part_of_rank(field, blocks, rank, ghosts);
        if (rank > 0)
            ranks_receive(rank, values, theirs.nx * theirs.ny * sizeof(*values));
        copy_part(values, theirs.nx, plane + theirs.whole_y0 * theirs.whole_nx + theirs.whole_x0,
                  theirs.whole_nx, theirs.nx, theirs.ny);
    }
}

/* Gets a plane of this process's block, with room for `room` elements behind it. */
static enum miniapp_status get_plane(struct miniapp_state *state, const struct slot *slot,
                                     size_t plane, size_t elements, size_t room, double **own)
{
    const char *const name = slot->name; /* may differ from the name of the slot's field */
    *own = state_room(state, elements + room);
    return *own ? miniapp_state_get_part(state, name, plane * elements, elements, *own)
                : fail(MINIAPP_DEVICE, "out of memory for a plane of '%s'", name);
}

enum miniapp_status miniapp_state_gather(struct miniapp_state *state, const char *name,
                                         size_t plane, bool with_ghosts, double *values)
{
    struct slot *const slot = state_slot(state, name);
    if (!slot)
        return MINIAPP_USAGE;
    const size_t nx = has_axis(slot->field, MINIAPP_X) ? state->grid.nx : 1;
    const size_t ny = has_axis(slot->field, MINIAPP_Y) ? state->grid.ny : 1;
    const size_t room = (nx + 1) * (ny + 1); /* other blocks may be larger by a row and a column */
    double *own;
    if (!state->exchange && (with_ghosts || nx * ny == 1))
        return miniapp_state_get_part(state, name, plane * nx * ny, nx * ny, values);
    const enum miniapp_status status =
        state_ends_all(state, get_plane(state, slot, plane, nx * ny, room, &own));
    if (!status && state->exchange) {
        gather(slot->field, exchange_blocks(state), own, with_ghosts, own + nx * ny, values);
    } else if (!status) {
        const size_t west = nx == 1 ? 0 : MINIAPP_HALO, south = ny == 1 ? 0 : MINIAPP_HALO;
        copy_part(own + south * nx + west, nx, values, nx - 2 * west, nx - 2 * west,
                  ny - 2 * south);
    }
    return status;
}
