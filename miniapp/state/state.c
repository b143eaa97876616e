#include "state.h"
#include "owned.h"
#include "ranks.h"
#include "sequence.h"
#include "status.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const signed char all_ghosts[MINIAPP_SIDES] = {MINIAPP_HALO, MINIAPP_HALO, MINIAPP_HALO,
                                               MINIAPP_HALO};

/* ---- the state ---- */

static bool in_range(size_t cells, size_t least)
{
    return cells >= least && cells <= MINIAPP_MAX_CELLS;
}

/* Whether the bytes of every field can be counted. */
static bool can_be_indexed(const struct miniapp_grid *grid)
{
    for (size_t id = 1; id <= miniapp_field_count(); id++)
        if (miniapp_field_elements(&fields[id], grid) > PTRDIFF_MAX / sizeof(double))
            return false;
    return true;
}

enum miniapp_status check_grid(const struct miniapp_grid *grid, size_t least)
{
    if (in_range(grid->nx, least) && in_range(grid->ny, least) && in_range(grid->nz, 1) &&
        can_be_indexed(grid))
        return MINIAPP_DONE;
    return fail(
        MINIAPP_USAGE,
        "a grid cannot have %zu x %zu x %zu points: it has %zu to %d cells along x and y%s, "
        "and 1 to %d along z, and no field may be too large to index",
        grid->nx, grid->ny, grid->nz, least, MINIAPP_MAX_CELLS,
        least > 1 ? ", with the ghosts" : "", MINIAPP_MAX_CELLS);
}

static size_t larger_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* The most turns that a loop nest on this grid makes: one for each point or, in an exchange of
 * ghosts, one for each of a field's. */
static size_t most_turns(const struct miniapp_grid *grid)
{
    enum { GHOSTS = 2 * MINIAPP_HALO };
    size_t most = miniapp_grid_points(grid);
    for (size_t id = 1; id <= miniapp_field_count(); id++) {
        const size_t elements = miniapp_field_elements(&fields[id], grid);
        if (has_axis(&fields[id], MINIAPP_X))
            most = larger_size(most, elements / grid->nx * GHOSTS);
        if (has_axis(&fields[id], MINIAPP_Y))
            most = larger_size(most, elements / grid->ny * GHOSTS);
    }
    return most;
}

enum miniapp_status miniapp_state_create(const struct miniapp_device *device,
                                         enum miniapp_precision precision,
                                         const struct miniapp_grid *grid,
                                         struct miniapp_state **created)
{
    if (!created)
        return null_given();
    *created = NULL;
    if (!device || !grid)
        return null_given();
    if ((unsigned)precision >= MINIAPP_PRECISIONS)
        return fail(MINIAPP_USAGE, "there is no precision %d", (int)precision);
    TRY(check_grid(grid, MINIAPP_MIN_CELLS));
    const ptrdiff_t most = device->backend->functions[precision]->most_turns;
    if (most_turns(grid) > (size_t)most)
        return fail(
            MINIAPP_DEVICE,
            "a grid of %zu x %zu x %zu points is too large for device '%s', which counts to "
            "%td: a build with -DMINIAPP_WIDE_COUNT=ON counts further",
            grid->nx, grid->ny, grid->nz, device->label, most);
    struct miniapp_state *const state = calloc(1, sizeof(*state));
    TRY(allocated(state, "a state"));
    state->device = device;
    state->precision = precision;
    state->grid = state->whole = *grid;
    for (size_t id = 0; id < SETTINGS; id++)
        state->settings.value[id] = settings[id].value;
    *created = state;
    return MINIAPP_DONE;
}

void miniapp_state_free(struct miniapp_state *state)
{
    if (!state)
        return;
    const int number = state->device->number;
    keep_free(state);
    for (size_t i = 0; i < state->slot_count; i++) {
        backend_of(state)->release(number, state->slots[i]->device);
        free(state->slots[i]->host);
        free(state->slots[i]);
    }
    for (size_t i = 0; i < state->scratch_count; i++)
        backend_of(state)->release(number, state->scratch[i].memory);
    exchange_free(state);
    forcing_free(state);
    free(state->room);
    free(state->slots);
    free(state->scratch);
    free(state);
}

enum miniapp_status miniapp_state_place(struct miniapp_state *state,
                                        const struct miniapp_grid *whole, size_t x0, size_t y0)
{
    if (!state || !whole)
        return null_given();
    const struct miniapp_grid *grid = &state->grid;
    if (x0 > whole->nx || y0 > whole->ny || whole->nx - x0 < grid->nx ||
        whole->ny - y0 < grid->ny || whole->nz != grid->nz)
        return fail(MINIAPP_USAGE,
                    "%zu x %zu x %zu points from (%zu, %zu) on are no part of an "
                    "ocean of %zu x %zu x %zu",
                    grid->nx, grid->ny, grid->nz, x0, y0, whole->nx, whole->ny, whole->nz);
    state->whole = *whole;
    state->x0 = x0;
    state->y0 = y0;
    return MINIAPP_DONE;
}

bool lacks_parts(const struct miniapp_state *state)
{
    return !state->exchange &&
           (state->whole.nx != state->grid.nx || state->whole.ny != state->grid.ny);
}

/* Ghosts along x that an exchange left alone while x was closed are not those of a cyclic ocean. No
 * exchange made those of a part current. */
void miniapp_state_set_cyclic(struct miniapp_state *state, bool cyclic_x)
{
    if (!state)
        return;
    const bool begins = cyclic_x && !state->cyclic_x && !lacks_parts(state);
    for (size_t i = 0; i < state->slot_count && begins; i++)
        if (has_axis(state->slots[i]->field, MINIAPP_X))
            state->slots[i]->ghosts[MINIAPP_WEST] = state->slots[i]->ghosts[MINIAPP_EAST] = 0;
    state->cyclic_x = cyclic_x;
}

enum miniapp_status miniapp_state_set_setting(struct miniapp_state *state, const char *name,
                                              double value)
{
    return state ? miniapp_settings_set(&state->settings, name, value) : null_given();
}

const struct miniapp_device *miniapp_state_device(const struct miniapp_state *state)
{
    return state ? state->device : NULL;
}

enum miniapp_precision miniapp_state_precision(const struct miniapp_state *state)
{
    return state ? state->precision : MINIAPP_FLOAT64;
}

struct miniapp_grid miniapp_state_grid(const struct miniapp_state *state)
{
    return state ? state->grid : (struct miniapp_grid){0};
}

const struct miniapp_settings *miniapp_state_settings(const struct miniapp_state *state)
{
    return &state->settings;
}

double miniapp_state_bytes(const struct miniapp_state *state)
{
    return state ? state->bytes : 0;
}

/* ---- its fields ---- */

static struct slot *find_slot(const struct miniapp_state *state, const char *name)
{
    for (size_t i = 0; state && name && i < state->slot_count; i++)
        if (strcmp(state->slots[i]->name, name) == 0)
            return state->slots[i];
    return NULL;
}

static struct slot *add_slot(struct miniapp_state *state, const char *name,
                             const struct miniapp_field *field)
{
    struct slot *const slot = calloc(1, sizeof(*slot));
    struct slot **const place =
        slot ? grow(&state->slots, &state->slot_count, sizeof(*place)) : NULL;
    if (!place) {
        free(slot);
        fail(MINIAPP_DEVICE, "out of memory for a field");
        return NULL;
    }
    snprintf(slot->name, sizeof(slot->name), "%s", name);
    slot->field = field;
    return *place = slot;
}

struct slot *state_added_slot(struct miniapp_state *state, const char *name,
                              const struct miniapp_field *field)
{
    struct slot *const slot = find_slot(state, name);
    return slot ? slot : add_slot(state, name, field);
}

struct slot *state_slot(struct miniapp_state *state, const char *name)
{
    struct slot *const slot = find_slot(state, name);
    const struct miniapp_field *const field = slot ? NULL : miniapp_field_find(name);
    if (slot)
        return slot;
    if (!state || !name)
        null_given();
    else if (field)
        return add_slot(state, name, field);
    else
        unknown_field(name);
    return NULL;
}

enum miniapp_status miniapp_state_add(struct miniapp_state *state, const char *name,
                                      const char *like)
{
    if (!state || !name || !like)
        return null_given();
    const struct slot *const model = find_slot(state, like);
    const struct miniapp_field *const field = model ? model->field : miniapp_field_find(like);
    if (!field)
        return unknown_field(like);
    if (!name[0] || strlen(name) >= MOST_NAME || strpbrk(name, "=:, "))
        return fail(MINIAPP_USAGE,
                    "'%s' is no name of a field: it has 1 to %d characters, none of "
                    "them '=', ':', ',' or a space",
                    name, MOST_NAME - 1);
    const struct miniapp_field *const known = miniapp_field_find(name);
    const bool is_tracer_like = known && is_tracer(field_id(known)) && same_shape(known, field);
    if (find_slot(state, name) || (known && !is_tracer_like))
        return fail(MINIAPP_USAGE, "there is a field '%s' already", name);
    return add_slot(state, name, field) ? MINIAPP_DONE : MINIAPP_DEVICE;
}

bool miniapp_state_has(const struct miniapp_state *state, const char *name)
{
    const struct slot *const slot = find_slot(state, name);
    return slot && is_set(slot);
}

int miniapp_state_ghosts(const struct miniapp_state *state, const char *name,
                         enum miniapp_side side)
{
    const struct slot *const slot = find_slot(state, name);
    return slot && is_set(slot) ? slot->ghosts[side] : 0;
}

/* The first cell that is no ghost begins a cache line, and so it does in all rows that are whole
 * lines: loops over these cells, with loads of a line each, cross none. */
static void *take(struct miniapp_state *state, size_t bytes)
{
    const size_t ghosts = MINIAPP_HALO * miniapp_element_bytes(MINIAPP_REAL, state->precision);
    void *const memory = device_allocate(state->device, bytes, ghosts);
    if (memory)
        state->bytes += (double)bytes;
    return memory;
}

static enum miniapp_status out_of_memory(const struct miniapp_state *state, const char *what,
                                         size_t bytes)
{
    return fail(MINIAPP_DEVICE, "device '%s' is out of memory: '%s' takes %.3g GB",
                state->device->label, what, (double)bytes / 1e9);
}

enum miniapp_status state_allocate(struct miniapp_state *state, struct slot *slot)
{
    if (!slot->device)
        slot->device = take(state, slot_bytes(state, slot));
    return slot->device ? MINIAPP_DONE : out_of_memory(state, slot->name, slot_bytes(state, slot));
}

/* The old scratch is kept until the larger one is there, because other plans use it. */
enum miniapp_status state_scratch(struct miniapp_state *state, size_t number,
                                  const struct miniapp_field *field, size_t *needed)
{
    const size_t bytes = *needed = miniapp_field_elements(field, &state->grid) *
                                   miniapp_element_bytes(field->type, state->precision);
    while (state->scratch_count <= number)
        if (!grow(&state->scratch, &state->scratch_count, sizeof(*state->scratch)))
            return out_of_memory(state, "scratch", bytes);
    struct scratch *const scratch = &state->scratch[number];
    if (scratch->bytes >= bytes)
        return MINIAPP_DONE;
    void *const memory = take(state, bytes);
    if (!memory)
        return out_of_memory(state, "scratch", bytes);
    backend_of(state)->release(state->device->number, scratch->memory);
    state->bytes -= (double)scratch->bytes;
    *scratch = (struct scratch){memory, bytes};
    return MINIAPP_DONE;
}

double *state_room(struct miniapp_state *state, size_t elements)
{
    if (state->room_elements < elements) {
        free(state->room);
        state->room = malloc(elements * sizeof(*state->room));
        state->room_elements = state->room ? elements : 0;
    }
    return state->room;
}

/* ---- time levels and ghosts ---- */

enum miniapp_status miniapp_state_rotate(struct miniapp_state *state, const char *const *names,
                                         size_t count)
{
    struct slot *before = NULL;
    if (!names)
        return null_given();
    for (size_t i = 0; i < count; i++) {
        struct slot *const slot = state_slot(state, names[i]);
        if (!slot)
            return MINIAPP_USAGE;
        for (size_t j = 0; j < i; j++)
            if (strcmp(names[i], names[j]) == 0)
                return fail(MINIAPP_USAGE, "'%s' cannot be rotated with itself", slot->name);
        if (before && !same_shape(before->field, slot->field))
            return fail(MINIAPP_USAGE,
                        "'%s' and '%s' have other axes or types: they cannot be "
                        "rotated",
                        before->name, slot->name);
        before = slot;
    }
    for (size_t i = 0; i + 1 < count; i++) { /* swapping neighbours carries the first to the end */
        struct slot *const a = state_slot(state, names[i]);
        struct slot *const b = state_slot(state, names[i + 1]);
        const struct slot was_a = *a, was_b = *b;
        *a = was_b;
        *b = was_a;
        a->field = was_a.field;
        b->field = was_b.field;
        memcpy(a->name, was_a.name, sizeof(a->name));
        memcpy(b->name, was_b.name, sizeof(b->name));
    }
    return MINIAPP_DONE;
}

static bool has_all_ghosts(const struct slot *slot)
{
    return memcmp(slot->ghosts, all_ghosts, sizeof(slot->ghosts)) == 0;
}

static enum miniapp_status check_parts(const struct miniapp_state *state, const struct slot *slot)
{
    if (!lacks_parts(state))
        return MINIAPP_DONE;
    return fail(MINIAPP_USAGE,
                "the ghosts of '%s' are not current, and come from other parts of the ocean, which "
                "this library does not exchange",
                slot->name);
}

void state_has_ghosts(struct slot *slot)
{
    slot->host_current = false;
    memcpy(slot->ghosts, all_ghosts, sizeof(all_ghosts));
}

enum miniapp_status state_ends_all(const struct miniapp_state *state, enum miniapp_status status)
{
    return status && state->exchange ? ranks_end_all(status) : status;
}

enum miniapp_status state_agrees(const struct miniapp_state *state, enum miniapp_status status)
{
    const enum miniapp_status of_all = state->exchange ? ranks_agree(status) : status;
    return of_all && !status ? fail(of_all, "process %d failed", ranks_failed()) : of_all;
}

enum miniapp_status state_exchange(struct miniapp_state *state, struct slot *const *slots,
                                   size_t count)
{
    struct slot *lacking[MOST_ARGUMENTS];
    size_t lack = 0;
    bool was_there = true; /* in all processes, if in one */
    enum miniapp_status status = MINIAPP_DONE;
    for (size_t i = 0; i < count && !status; i++) {
        was_there &= slots[i]->device_current;
        status = state_to_device(state, slots[i]);
        if (status || has_all_ghosts(slots[i]))
            continue;
        status = check_parts(state, slots[i]);
        lacking[lack++] = slots[i];
    }
    if (!was_there)
        status = state_agrees(state, status);
    if (!status && lack > 0)
        status = exchange_ghosts(state, lacking, lack);
    status = state_ends_all(state, status);
    for (size_t i = 0; i < lack && !status; i++)
        if (state->exchange || state->cyclic_x)
            state_has_ghosts(lacking[i]);
        else
            memcpy(lacking[i]->ghosts, all_ghosts, sizeof(all_ghosts));
    return status;
}

enum miniapp_status miniapp_state_exchange(struct miniapp_state *state, const char *name)
{
    struct slot *const slot = state_slot(state, name);
    return slot ? state_exchange(state, &slot, 1) : MINIAPP_USAGE;
}
