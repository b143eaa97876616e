#include "clock.h"
#include "ranks.h"
#include "state.h"
#include "status.h"

#include <stdlib.h>
#include <string.h>

/* Memory for what goes to a neighbour, or comes from it: the device's, and also the host's if that
 * is separate and MPI needs it. */
struct buffer {
    void *device, *host;
    bool is_pinned; /* the host's is */
    size_t bytes;
};

/* Fields whose ghosts are exchanged together: first along x, then along y with the ghosts that came
 * along x, in one or more rounds along each. */
enum { MOST_TOGETHER = 64, MOST_ASKED = 1024 };
struct pending {
    struct slot *slots[MOST_TOGETHER];
    size_t count;
    enum miniapp_axis axis;
    size_t round; /* along it */
    struct message messages[2];
    size_t sent; /* how many of them are in flight */
};

struct exchange {
    struct blocks blocks;
    struct block block;
    struct buffer out[MINIAPP_SIDES], in[MINIAPP_SIDES];
    size_t room[MINIAPP_SIDES]; /* of buffers, where there are neighbours, in all processes */
    bool was_cyclic;            /* along x, when room was made */
    struct pending pending;
    bool overlaps;
    struct slot *asked[MOST_ASKED]; /* for, since all last arrived: groups, each ended by NULL */
    size_t asked_count, sent_count; /* entries of it, and those that were sent */
    double seconds, gathered;
};

/* ---- buffers ---- */

/* Takes the host's memory for messages: pinned, if the device's runtime has such memory. */
static void take_host(const struct miniapp_state *state, struct buffer *buffer, size_t bytes)
{
    const struct backend *const backend = backend_of(state);
    buffer->host =
        backend->allocate_pinned ? backend->allocate_pinned(state->device->number, bytes) : NULL;
    buffer->is_pinned = buffer->host != NULL;
    if (!buffer->is_pinned)
        buffer->host = malloc(bytes);
}

static void release_memory(const struct miniapp_state *state, struct buffer *buffer)
{
    const struct backend *const backend = backend_of(state);
    const int number = state->device->number;
    if (buffer->is_pinned)
        backend->release_pinned(number, buffer->host);
    else if (buffer->host != buffer->device)
        free(buffer->host);
    backend->release(number, buffer->device);
    *buffer = (struct buffer){0};
}

static enum miniapp_status reserve(struct miniapp_state *state, struct buffer *buffer, size_t bytes)
{
    const struct backend *const backend = backend_of(state);
    if (buffer->bytes >= bytes)
        return MINIAPP_DONE;
    state->bytes -= (double)buffer->bytes;
    release_memory(state, buffer);
    buffer->device = device_allocate(state->device, bytes, 0);
    if (backend->is_host || (ranks_gpu_aware() && !backend->is_indirect))
        buffer->host = buffer->device;
    else
        take_host(state, buffer, bytes);
    TRY(allocated(buffer->device && buffer->host, "messages to other processes"));
    buffer->bytes = bytes;
    state->bytes += (double)bytes;
    return MINIAPP_DONE;
}

/* ---- neighbours ---- */

static enum miniapp_axis axis_of(enum miniapp_side side)
{
    return side == MINIAPP_WEST || side == MINIAPP_EAST ? MINIAPP_X : MINIAPP_Y;
}

static bool is_low(enum miniapp_side side)
{
    return side == MINIAPP_WEST || side == MINIAPP_SOUTH;
}

static enum miniapp_side opposite(enum miniapp_side side)
{
    return (enum miniapp_side)(is_low(side) ? side + 1 : side - 1);
}

/* The rank beyond a side; -1 where there is none. */
static int neighbour(const struct exchange *exchange, enum miniapp_side side, bool cyclic)
{
    const int step = is_low(side) ? -1 : 1;
    const bool along_x = axis_of(side) == MINIAPP_X;
    return rank_of(&exchange->blocks, exchange->block.x + (along_x ? step : 0),
                   exchange->block.y + (along_x ? 0 : step), cyclic);
}

/* ---- ghosts ---- */

/* Blocks that are narrower than their ghosts pass on ghosts that they were given: then there are as
 * many rounds as ghosts on a side, and the nearest ghosts come first. */
static size_t rounds(const struct exchange *exchange, enum miniapp_axis axis)
{
    return least_cells(&exchange->blocks, axis) < MINIAPP_HALO ? MINIAPP_HALO : 1;
}

/* How many ghosts a round brings. */
static size_t depth_of(const struct exchange *exchange)
{
    return MINIAPP_HALO / rounds(exchange, exchange->pending.axis);
}

/* The cells that the round sends to the neighbour beyond a side, or the ghosts that it receives
 * from there. */
static struct field_box box_of(const struct miniapp_state *state, const struct slot *slot,
                               enum miniapp_side side, bool is_out)
{
    const struct planes p = slot_planes(state, slot);
    const size_t round = state->exchange->pending.round, depth = depth_of(state->exchange);
    struct field_box box = {
        .element_bytes = miniapp_element_bytes(slot->field->type, state->precision),
        .nx = p.nx,
        .ny = p.ny,
        .planes = p.count,
        .width = p.nx,
        .height = p.ny,
    };
    const size_t cells = axis_of(side) == MINIAPP_X ? box.nx : box.ny;
    const size_t low = is_out ? MINIAPP_HALO + round * depth : MINIAPP_HALO - (round + 1) * depth;
    const size_t start = is_low(side) ? low : cells - low - depth;
    *(axis_of(side) == MINIAPP_X ? &box.x0 : &box.y0) = start;
    *(axis_of(side) == MINIAPP_X ? &box.width : &box.height) = depth;
    return box;
}

/* Packs the fields that have the side's axis into a message, or unpacks them; without one it does
 * neither. Returns how many bytes they take. */
static size_t copy_all(const struct miniapp_state *state, enum miniapp_side side, bool is_out,
                       char *message)
{
    const struct kernel_functions *const functions = backend_of(state)->functions[state->precision];
    const struct pending *const pending = &state->exchange->pending;
    size_t bytes = 0;
    for (size_t i = 0; i < pending->count; i++)
        if (has_axis(pending->slots[i]->field, axis_of(side))) {
            const struct field_box box = box_of(state, pending->slots[i], side, is_out);
            if (message)
                functions->copy_box(&box, pending->slots[i]->device, message + bytes, is_out);
            bytes += box.planes * box.height * box.width * box.element_bytes;
        }
    return bytes;
}

/* The most bytes of a message beyond a side of the largest block, which is that of the first rank.
 */
static size_t most_bytes(const struct miniapp_state *state, enum miniapp_side side,
                         struct slot *const *slots, size_t count)
{
    const struct miniapp_grid largest = block_of(&state->exchange->blocks, 0).grid;
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        const struct planes p = planes_of(slots[i]->field, &largest);
        if (has_axis(slots[i]->field, axis_of(side)))
            bytes += p.count * MINIAPP_HALO * (axis_of(side) == MINIAPP_X ? p.ny : p.nx) *
                     miniapp_element_bytes(slots[i]->field->type, state->precision);
    }
    return bytes;
}

/* Makes room for the messages of an exchange: as much as the largest block needs, so that all ranks
 * make it together, and learn where memory is short. While kernels run, not all are here. */
static enum miniapp_status make_room(struct miniapp_state *state, struct slot *const *slots,
                                     size_t count)
{
    struct exchange *const exchange = state->exchange;
    bool grows = exchange->was_cyclic != state->cyclic_x;
    size_t bytes[MINIAPP_SIDES];
    for (enum miniapp_side side = 0; side < MINIAPP_SIDES; side++) {
        bytes[side] = most_bytes(state, side, slots, count);
        grows |= bytes[side] > exchange->room[side];
        bytes[side] = bytes[side] > exchange->room[side] ? bytes[side] : exchange->room[side];
    }
    if (!grows)
        return MINIAPP_DONE;
    enum miniapp_status status = MINIAPP_DONE;
    for (enum miniapp_side side = 0; side < MINIAPP_SIDES && !status; side++)
        if (neighbour(exchange, side, state->cyclic_x) >= 0) {
            status = reserve(state, &exchange->out[side], bytes[side]);
            status = status ? status : reserve(state, &exchange->in[side], bytes[side]);
        }
    TRY(exchange->overlaps ? status : state_agrees(state, status));
    memcpy(exchange->room, bytes, sizeof(bytes));
    exchange->was_cyclic = state->cyclic_x;
    return MINIAPP_DONE;
}

static enum miniapp_status pack(struct miniapp_state *state, enum miniapp_side side, size_t bytes,
                                int rank)
{
    struct pending *const pending = &state->exchange->pending;
    struct buffer *const out = &state->exchange->out[side], *const in = &state->exchange->in[side];
    copy_all(state, side, true, out->device);
    pending->messages[pending->sent++] =
        (struct message){rank, (int)side, (int)opposite(side), out->host, in->host, bytes};
    return device_fetch(state->device, out->host, out->device, bytes, "ghosts");
}

static enum miniapp_status unpack(struct miniapp_state *state, const struct message *message)
{
    const enum miniapp_side side = (enum miniapp_side)message->sent_as;
    const struct buffer *const in = &state->exchange->in[side];
    TRY(device_send(state->device, in->device, in->host, message->bytes, "ghosts"));
    copy_all(state, side, false, in->device);
    return MINIAPP_DONE;
}

static enum miniapp_status send_round(struct miniapp_state *state)
{
    struct pending *const pending = &state->exchange->pending;
    const bool along_x = pending->axis == MINIAPP_X;
    const enum miniapp_side sides[] = {along_x ? MINIAPP_WEST : MINIAPP_SOUTH,
                                       along_x ? MINIAPP_EAST : MINIAPP_NORTH};
    for (size_t i = 0; i < 2; i++) {
        const int rank = neighbour(state->exchange, sides[i], state->cyclic_x);
        const size_t bytes = copy_all(state, sides[i], true, NULL);
        if (rank >= 0 && bytes > 0)
            TRY(pack(state, sides[i], bytes, rank));
    }
    if (pending->sent > 0)
        ranks_exchange_begin(pending->messages, pending->sent);
    return MINIAPP_DONE;
}

/* Copies ghosts along x within the memory of the state, if one block spans the whole cyclic
 * axis. */
static void wrap_along_x(struct miniapp_state *state, struct slot *const *slots, size_t count)
{
    const size_t nx = state->grid.nx;
    const struct kernel_functions *const functions = backend_of(state)->functions[state->precision];
    for (size_t i = 0; i < count; i++)
        if (has_axis(slots[i]->field, MINIAPP_X))
            functions->exchange_x(slots[i]->device,
                                  miniapp_element_bytes(slots[i]->field->type, state->precision),
                                  nx, miniapp_field_elements(slots[i]->field, &state->grid) / nx);
}

/* Moves on to the next round of the exchange, along y after all those along x; false after the
 * last. */
static bool next_round(struct exchange *exchange)
{
    struct pending *const pending = &exchange->pending;
    pending->round++;
    while (pending->axis <= MINIAPP_Y) {
        const bool along_x = pending->axis == MINIAPP_X;
        const int blocks = along_x ? exchange->blocks.along_x : exchange->blocks.along_y;
        if (blocks > 1 && pending->round < rounds(exchange, pending->axis))
            return true;
        pending->axis++;
        pending->round = 0;
    }
    return false;
}

/* Sends the next round in which this block has a neighbour; the exchange ends if there is no such
 * round. */
static enum miniapp_status send_next(struct miniapp_state *state)
{
    struct exchange *const exchange = state->exchange;
    while (exchange->pending.sent == 0 && next_round(exchange))
        TRY(send_round(state));
    return MINIAPP_DONE;
}

/* Unpacks the round that has arrived, and sends the next one. */
static enum miniapp_status unpack_round(struct miniapp_state *state)
{
    struct pending *const pending = &state->exchange->pending;
    for (size_t i = 0; i < pending->sent; i++)
        TRY(unpack(state, &pending->messages[i]));
    pending->sent = 0;
    return send_next(state);
}

static enum miniapp_status start_exchange(struct miniapp_state *state, struct slot *const *slots,
                                          size_t count)
{
    struct exchange *const exchange = state->exchange;
    TRY(make_room(state, slots, count));
    if (state->cyclic_x && exchange->blocks.along_x == 1)
        wrap_along_x(state, slots, count);
    exchange->pending = (struct pending){.count = count, .axis = MINIAPP_X, .round = SIZE_MAX};
    memcpy(exchange->pending.slots, slots, count * sizeof(*slots));
    return send_next(state);
}

/* The exchange has ended: notes that all ghosts of its fields are current. */
static void note_arrival(struct miniapp_state *state)
{
    struct pending *const pending = &state->exchange->pending;
    for (size_t i = 0; i < pending->count; i++)
        state_has_ghosts(pending->slots[i]);
    pending->count = 0;
}

static enum miniapp_status wait_for_exchange(struct miniapp_state *state)
{
    while (state->exchange->pending.sent > 0) {
        ranks_exchange_ended(true);
        TRY(unpack_round(state));
    }
    note_arrival(state);
    return MINIAPP_DONE;
}

/* Fields that were asked for together are sent together, whenever that is, so that all ranks send
 * the same messages. */
static enum miniapp_status send_asked(struct miniapp_state *state)
{
    struct exchange *const exchange = state->exchange;
    struct slot *const *const group = exchange->asked + exchange->sent_count;
    size_t count = 0;
    while (group[count])
        count++;
    exchange->sent_count += count + 1;
    return start_exchange(state, group, count);
}

static bool is_any_left(const struct exchange *exchange)
{
    return exchange->sent_count < exchange->asked_count;
}

static enum miniapp_status finish(struct miniapp_state *state)
{
    TRY(wait_for_exchange(state));
    while (is_any_left(state->exchange)) {
        TRY(send_asked(state));
        TRY(wait_for_exchange(state));
    }
    state->exchange->asked_count = state->exchange->sent_count = 0;
    return MINIAPP_DONE;
}

enum miniapp_status exchange_ghosts(struct miniapp_state *state, struct slot *const *slots,
                                    size_t count)
{
    const double start = seconds_now();
    TRY(backend_of(state)->select(state->device->number));
    if (state->exchange) {
        TRY(finish(state));
        TRY(start_exchange(state, slots, count));
        TRY(wait_for_exchange(state));
    } else if (state->cyclic_x) {
        wrap_along_x(state, slots, count);
    }
    exchange_note(state, start, false);
    return MINIAPP_DONE;
}

/* ---- while kernels run ---- */

void miniapp_state_overlap(struct miniapp_state *state, bool overlaps)
{
    if (state->exchange)
        state->exchange->overlaps = overlaps;
}

bool exchange_overlaps(const struct miniapp_state *state)
{
    return state->exchange && state->exchange->overlaps;
}

void exchange_ask(struct miniapp_state *state, struct slot *const *slots, size_t count)
{
    struct exchange *const exchange = state->exchange;
    if (count == 0 || exchange->asked_count + count >= MOST_ASKED)
        return; /* they are exchanged when they are read */
    memcpy(exchange->asked + exchange->asked_count, slots, count * sizeof(*slots));
    exchange->asked_count += count;
    exchange->asked[exchange->asked_count++] = NULL;
}

bool exchange_was_asked(const struct miniapp_state *state, const struct slot *slot)
{
    const struct exchange *const exchange = state->exchange;
    for (size_t i = 0; i < exchange->asked_count; i++)
        if (exchange->asked[i] == slot)
            return true;
    return false;
}

enum miniapp_status exchange_progress(struct miniapp_state *state)
{
    struct pending *const pending = &state->exchange->pending;
    const double start = seconds_now();
    enum miniapp_status status = MINIAPP_DONE;
    while (pending->sent > 0 && !status && ranks_exchange_ended(false))
        status = unpack_round(state);
    if (pending->sent == 0 && !status) {
        note_arrival(state);
        if (is_any_left(state->exchange))
            status = send_asked(state);
    }
    exchange_note(state, start, false);
    return status;
}

enum miniapp_status exchange_finish(struct miniapp_state *state)
{
    const double start = seconds_now();
    const enum miniapp_status status = finish(state);
    exchange_note(state, start, false);
    return status;
}

void exchange_note(struct miniapp_state *state, double start, bool is_gather)
{
    if (state->exchange)
        *(is_gather ? &state->exchange->gathered : &state->exchange->seconds) +=
            seconds_now() - start;
}

const struct blocks *exchange_blocks(const struct miniapp_state *state)
{
    return &state->exchange->blocks;
}

/* ---- the exchange of a state ---- */

enum miniapp_status miniapp_state_spread(struct miniapp_state *state, const struct blocks *blocks)
{
    const struct block block = block_of(blocks, ranks_own());
    if (memcmp(&block.grid, &state->grid, sizeof(block.grid)) != 0)
        return fail(MINIAPP_USAGE, "a state of %zu x %zu x %zu points is no block of the ocean",
                    state->grid.nx, state->grid.ny, state->grid.nz);
    enum miniapp_status status = miniapp_state_place(state, &blocks->whole, block.x0, block.y0);
    if (status || blocks->along_x * blocks->along_y == 1)
        return status;
    state->exchange = calloc(1, sizeof(*state->exchange));
    if (state->exchange)
        *state->exchange = (struct exchange){.blocks = *blocks, .block = block};
    return ranks_agree(allocated(state->exchange, "messages to other processes"));
}

enum miniapp_status miniapp_state_share(struct miniapp_state *state, int along_x, int along_y)
{
    const size_t ghosts = 2 * MINIAPP_HALO;
    const struct miniapp_grid whole = {(state->grid.nx - ghosts) * (size_t)along_x + ghosts,
                                       (state->grid.ny - ghosts) * (size_t)along_y + ghosts,
                                       state->grid.nz};
    if (along_x * along_y != ranks_count())
        return fail(MINIAPP_USAGE, "%d x %d blocks are not one for each of %d processes", along_x,
                    along_y, ranks_count());
    return miniapp_state_spread(state, &(struct blocks){whole, along_x, along_y});
}

double miniapp_state_gather_seconds(const struct miniapp_state *state)
{
    return state->exchange ? state->exchange->gathered : 0;
}

double miniapp_state_exchange_seconds(const struct miniapp_state *state)
{
    return state->exchange ? state->exchange->seconds : 0;
}

void exchange_free(struct miniapp_state *state)
{
    if (!state->exchange)
        return;
    for (int side = 0; side < MINIAPP_SIDES; side++) {
        release_memory(state, &state->exchange->out[side]);
        release_memory(state, &state->exchange->in[side]);
    }
    free(state->exchange);
}
