/* The planes of a field, from all blocks of an ocean. */
#include "ranks.h"
#include "state.h"
#include "status.h"

#include <stdlib.h>
#include <string.h>

static void copy_part(const double *from, size_t from_nx, double *to, size_t to_nx, size_t nx,
                      size_t ny)
{
    for (size_t y = 0; y < ny; y++)
        memcpy(to + y * to_nx, from + y * from_nx, nx * sizeof(*to));
}

/* All of it goes through the first process, which holds no more than a plane. */
static void gather(const struct miniapp_field *field, const struct blocks *blocks,
                   const double *own, bool ghosts, double *values, double *plane)
{
    const struct part part = part_of_rank(blocks, ranks_own(), field, ghosts);
    copy_part(own + part.y.start * part.x.all + part.x.start, part.x.all, values, part.x.count,
              part.x.count, part.y.count);
    if (ranks_own() > 0)
        ranks_send(0, values, part.x.count * part.y.count * sizeof(*values));
    for (int rank = 0; rank < ranks_count() && ranks_own() == 0; rank++) {
        const struct part theirs = part_of_rank(blocks, rank, field, ghosts);
        if (rank > 0)
            ranks_receive(rank, values, theirs.x.count * theirs.y.count * sizeof(*values));
        copy_part(values, theirs.x.count,
                  plane + theirs.y.whole_start * theirs.x.whole_all + theirs.x.whole_start,
                  theirs.x.whole_all, theirs.x.count, theirs.y.count);
    }
}

/* Gets a plane of this process's block, with room for `room` elements behind it. */
static enum miniapp_status get_plane(struct miniapp_state *state, const struct slot *slot,
                                     size_t plane, size_t room, double **own)
{
    const char *const name = slot->name; /* may differ from the name of the slot's field */
    const size_t elements = slot_planes(state, slot).elements;
    *own = state_room(state, elements + room);
    TRY(allocated(*own, "a plane of '%s'", name));
    return miniapp_state_get_part(state, name, plane * elements, elements, *own);
}

enum miniapp_status state_get_interior(struct miniapp_state *state, const struct slot *slot,
                                       size_t first, size_t count, double *values)
{
    const struct planes p = slot_planes(state, slot);
    const size_t west = has_axis(slot->field, MINIAPP_X) ? MINIAPP_HALO : 0;
    const size_t south = has_axis(slot->field, MINIAPP_Y) ? MINIAPP_HALO : 0;
    const size_t nx = p.nx - 2 * west, ny = p.ny - 2 * south;
    double *own;
    for (size_t plane = 0; plane < count; plane++) {
        TRY(get_plane(state, slot, first + plane, 0, &own));
        copy_part(own + south * p.nx + west, p.nx, values + plane * nx * ny, nx, nx, ny);
    }
    return MINIAPP_DONE;
}

enum miniapp_status miniapp_state_get_interior(struct miniapp_state *state, const char *name,
                                               double *values)
{
    const struct slot *const slot = state_slot(state, name);
    if (!slot)
        return MINIAPP_USAGE;
    return values ? state_get_interior(state, slot, 0, slot_planes(state, slot).count, values)
                  : null_given();
}

static enum miniapp_status gather_plane(struct miniapp_state *state, const struct slot *slot,
                                        size_t plane, bool with_ghosts, bool may_lack,
                                        double *values)
{
    if (!state->exchange && !with_ghosts)
        return state_get_interior(state, slot, plane, 1, values);
    const struct planes p = slot_planes(state, slot);
    const size_t room = (p.nx + 1) * (p.ny + 1); /* others may be larger by a row and a column */
    double *own;
    if (!state->exchange)
        return miniapp_state_get_part(state, slot->name, plane * p.elements, p.elements, values);
    const enum miniapp_status status = get_plane(state, slot, plane, room, &own);
    TRY(may_lack ? state_agrees(state, status) : state_ends_all(state, status));
    gather(slot->field, exchange_blocks(state), own, with_ghosts, own + p.elements, values);
    return MINIAPP_DONE;
}

enum miniapp_status miniapp_state_gather(struct miniapp_state *state, const char *name,
                                         size_t plane, bool with_ghosts, double *values)
{
    const struct slot *const slot = state_slot(state, name);
    return slot ? gather_plane(state, slot, plane, with_ghosts, true, values) : MINIAPP_USAGE;
}

enum miniapp_status state_gather_all(struct miniapp_state *state, const char *name,
                                     bool with_ghosts, bool may_lack, double *values)
{
    const struct miniapp_grid inner = miniapp_grid_interior(&state->whole);
    const struct slot *const slot = state_slot(state, name);
    if (!slot)
        return MINIAPP_USAGE;
    const size_t planes = slot_planes(state, slot).count;
    const size_t elements =
        miniapp_field_elements(slot->field, with_ghosts ? &state->whole : &inner) / planes;
    for (size_t p = 0; p < planes; p++)
        TRY(gather_plane(state, slot, p, with_ghosts, may_lack, values + p * elements));
    return MINIAPP_DONE;
}

static size_t room_in_survey(const char *name, const struct miniapp_grid *grid)
{
    const struct miniapp_field *const field = miniapp_field_find(name);
    return miniapp_field_elements(field, grid) / (miniapp_field_rank(field) == 3 ? grid->nz : 1);
}

enum miniapp_status survey(struct miniapp_state *state, const char *const *names, size_t count,
                           bool with_ghosts, const char *what, double **arrays, double **memory)
{
    const struct miniapp_grid inner = miniapp_grid_interior(&state->whole);
    const struct miniapp_grid *const grid = with_ghosts ? &state->whole : &inner;
    size_t elements = 0;
    for (size_t i = 0; i < count; i++)
        elements += room_in_survey(names[i], grid);
    double *next = *memory = malloc(elements * sizeof(*next));
    TRY(state_agrees(state, allocated(next, "%s", what)));
    for (size_t i = 0; i < count; next += room_in_survey(names[i++], grid)) {
        arrays[i] = next;
        if (miniapp_field_rank(miniapp_field_find(names[i])) == 1)
            TRY(state_gather_all(state, names[i], with_ghosts, true, next));
    }
    return MINIAPP_DONE;
}
