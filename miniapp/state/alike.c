/* Whether all ranks have read the same: each opens a file of its own, if a node has a copy. */
#include "exchange.h"
#include "ranks.h"
#include "status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum miniapp_status differs(const struct slot *slot)
{
    return fail(MINIAPP_INPUT,
                "process %d has read another '%s' than the other processes: their files differ",
                ranks_own(), slot->name);
}

static bool is_same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* Whether a cell of the block was read as a ghost, while it is an interior cell of a neighbour. */
static bool is_shared(size_t cell, size_t cells, size_t from, size_t whole, int before, int after)
{
    const size_t low = MINIAPP_HALO - (size_t)before, high = MINIAPP_HALO - (size_t)after;
    const size_t place = from + cell;
    return cell >= low && cell < cells - high && place >= MINIAPP_HALO &&
           place < whole - MINIAPP_HALO;
}

static bool are_ghosts_alike(const struct miniapp_state *state, const struct slot *slot,
                             const signed char ghosts[MINIAPP_SIDES], const double *before,
                             const double *after)
{
    const bool has_x = has_axis(slot->field, MINIAPP_X), has_y = has_axis(slot->field, MINIAPP_Y);
    const size_t nx = has_x ? state->grid.nx : 1, ny = has_y ? state->grid.ny : 1;
    const size_t elements = miniapp_field_elements(slot->field, &state->grid);
    for (size_t i = 0; i < elements; i++) {
        const size_t x = i % nx, y = i / nx % ny;
        if (!is_same(before[i], after[i]) &&
            (!has_x || is_shared(x, nx, state->x0, state->whole.nx, ghosts[MINIAPP_WEST],
                                 ghosts[MINIAPP_EAST])) &&
            (!has_y || is_shared(y, ny, state->y0, state->whole.ny, ghosts[MINIAPP_SOUTH],
                                 ghosts[MINIAPP_NORTH])))
            return false;
    }
    return true;
}

/* Ghosts that were read are compared with what their owners have read; then they stay as they were,
 * because those of the ocean's own edges need not be copies. */
static enum miniapp_status compare_ghosts(struct miniapp_state *state, struct slot *slot)
{
    const size_t elements = miniapp_field_elements(slot->field, &state->grid);
    signed char ghosts[MINIAPP_SIDES];
    memcpy(ghosts, slot->ghosts, sizeof(ghosts));
    double *const before = malloc(2 * elements * sizeof(*before));
    enum miniapp_status status =
        ranks_agree(before ? miniapp_state_get(state, slot->name, before)
                           : fail(MINIAPP_DEVICE, "out of memory for a copy of '%s'", slot->name));
    if (!status)
        status = state_to_device(state, slot);
    if (!status)
        status = exchange_ghosts(state, &slot, 1);
    if (!status) {
        state_has_ghosts(slot);
        status = miniapp_state_get(state, slot->name, before + elements);
    }
    const bool alike = status || are_ghosts_alike(state, slot, ghosts, before, before + elements);
    if (!status)
        status = miniapp_state_set_part(state, slot->name, 0, elements, before);
    memcpy(slot->ghosts, ghosts, sizeof(ghosts));
    free(before);
    return alike ? status : differs(slot);
}

/* A line of the grid is compared whole with what the first process gathers of it. */
static enum miniapp_status compare_line(struct miniapp_state *state, struct slot *slot)
{
    const bool has_x = has_axis(slot->field, MINIAPP_X), has_y = has_axis(slot->field, MINIAPP_Y);
    const size_t whole = miniapp_field_elements(slot->field, &state->whole);
    const size_t own = miniapp_field_elements(slot->field, &state->grid);
    const size_t from = has_x ? state->x0 : has_y ? state->y0 : 0;
    const size_t planes = has_x || has_y ? 1 : whole;
    double *const line = calloc(whole + own, sizeof(*line));
    enum miniapp_status status =
        ranks_agree(line ? miniapp_state_get(state, slot->name, line + whole)
                         : fail(MINIAPP_DEVICE, "out of memory for a copy of '%s'", slot->name));
    for (size_t p = 0; p < planes && !status; p++)
        status = miniapp_state_gather(state, slot->name, p, true, line + p);
    bool alike = true;
    if (!status)
        ranks_broadcast(0, line, whole * sizeof(*line));
    for (size_t i = 0; i < own && !status; i++)
        if (from + i >= MINIAPP_HALO * (size_t)(has_x || has_y) &&
            from + i + MINIAPP_HALO * (size_t)(has_x || has_y) < whole)
            alike &= is_same(line[from + i], line[whole + i]);
    free(line);
    return alike ? status : differs(slot);
}

enum miniapp_status miniapp_state_compare(struct miniapp_state *state, const char *name)
{
    struct slot *const slot = state_slot(state, name);
    if (!slot || !state->exchange)
        return slot ? MINIAPP_DONE : MINIAPP_USAGE;
    const bool is_line = miniapp_field_rank(slot->field) <= 1;
    return ranks_agree(is_line ? compare_line(state, slot) : compare_ghosts(state, slot));
}
