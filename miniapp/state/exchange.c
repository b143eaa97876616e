#include "exchange.h"
#include "clock.h"
#include "ranks.h"
#include "status.h"

#include <stdlib.h>
#include <string.h>

/* What goes to a neighbour, or comes from it: in the device's memory, and on its way through the
 * host's, where that is another and MPI cannot do without. */
struct buffer {
    void *device, *host;
    size_t bytes;
};

struct exchange {
    struct blocks blocks;
    struct block block;
    struct buffer out[MINIAPP_SIDES], in[MINIAPP_SIDES];
    void *sums; /* on their way: memory of the host, for so many bytes */
    size_t sums_bytes;
    struct carry carry;
    double seconds;
};

static const struct backend *backend_of(const struct miniapp_state *state)
{
    return state->device->backend;
}

/* ---- buffers ---- */

static void *take_host(const struct miniapp_state *state, size_t bytes)
{
    const struct backend *const backend = backend_of(state);
    return backend->allocate_pinned ? backend->allocate_pinned(state->device->number, bytes)
                                    : malloc(bytes);
}

static void release_memory(const struct miniapp_state *state, struct buffer *buffer)
{
    const struct backend *const backend = backend_of(state);
    const int number = state->device->number;
    const bool has_host = buffer->host && buffer->host != buffer->device;
    if (has_host && backend->release_pinned)
        backend->release_pinned(number, buffer->host);
    else if (has_host)
        free(buffer->host);
    backend->release(number, buffer->device);
    buffer->device = buffer->host = NULL;
}

static enum miniapp_status reserve(struct miniapp_state *state, struct buffer *buffer, size_t bytes)
{
    const struct backend *const backend = backend_of(state);
    if (buffer->bytes >= bytes)
        return MINIAPP_DONE;
    release_memory(state, buffer);
    buffer->device = backend->allocate(state->device->number, bytes);
    buffer->host = backend->is_host || ranks_gpu_aware() ? buffer->device : take_host(state, bytes);
    state->bytes += (double)(bytes - buffer->bytes);
    buffer->bytes = bytes;
    return buffer->device && buffer->host
               ? MINIAPP_DONE
               : fail(MINIAPP_DEVICE, "out of memory for messages to other processes");
}

/* Within the host, or where both are the same memory. */
static bool copy_here(void *to, const void *from, size_t bytes)
{
    if (to != from)
        memcpy(to, from, bytes);
    return true;
}

static bool to_host(const struct miniapp_state *state, void *host, const void *device, size_t bytes)
{
    const struct backend *const backend = backend_of(state);
    return backend->is_host || host == device
               ? copy_here(host, device, bytes)
               : backend->from_device(state->device->number, host, device, bytes);
}

static bool to_device(const struct miniapp_state *state, void *device, const void *host,
                      size_t bytes)
{
    const struct backend *const backend = backend_of(state);
    return backend->is_host || host == device
               ? copy_here(device, host, bytes)
               : backend->to_device(state->device->number, device, host, bytes);
}

static enum miniapp_status copy_failed(const struct miniapp_state *state)
{
    return fail(MINIAPP_DEVICE, "copies to device '%s' and back failed", state->device->label);
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
    static const enum miniapp_side opposites[MINIAPP_SIDES] = {
        [MINIAPP_WEST] = MINIAPP_EAST,
        [MINIAPP_EAST] = MINIAPP_WEST,
        [MINIAPP_SOUTH] = MINIAPP_NORTH,
        [MINIAPP_NORTH] = MINIAPP_SOUTH,
    };
    return opposites[side];
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

/* Blocks that are narrower than the ghosts are wide pass on what they were given: then ghosts come
 * in as many rounds as there are of them, the nearest first. */
static size_t rounds(const struct exchange *exchange, enum miniapp_axis axis)
{
    return least_cells(&exchange->blocks, axis) < MINIAPP_HALO ? MINIAPP_HALO : 1;
}

/* What a round sends to the neighbour beyond a side, or the ghosts that it gets from there. */
static struct field_box box_of(const struct miniapp_state *state, const struct slot *slot,
                               enum miniapp_side side, size_t round, size_t depth, bool is_out)
{
    const struct miniapp_grid *const grid = &state->grid;
    const size_t elements = miniapp_field_elements(slot->field, grid);
    struct field_box box = {
        .element_bytes = miniapp_element_bytes(slot->field->type, state->precision),
        .nx = has_axis(slot->field, MINIAPP_X) ? grid->nx : 1,
        .ny = has_axis(slot->field, MINIAPP_Y) ? grid->ny : 1,
    };
    box.planes = elements / (box.nx * box.ny);
    box.width = box.nx;
    box.height = box.ny;
    const size_t cells = axis_of(side) == MINIAPP_X ? box.nx : box.ny;
    const size_t low = is_out ? MINIAPP_HALO + round * depth : MINIAPP_HALO - (round + 1) * depth;
    const size_t start = is_low(side) ? low : cells - low - depth;
    *(axis_of(side) == MINIAPP_X ? &box.x0 : &box.y0) = start;
    *(axis_of(side) == MINIAPP_X ? &box.width : &box.height) = depth;
    return box;
}

static size_t bytes_of(const struct field_box *box)
{
    return box->planes * box->height * box->width * box->element_bytes;
}

/* The bytes of all fields that lie along the axis. */
static size_t bytes_of_all(const struct miniapp_state *state, struct slot *const *slots,
                           size_t count, enum miniapp_side side, size_t depth)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        if (has_axis(slots[i]->field, axis_of(side))) {
            const struct field_box box = box_of(state, slots[i], side, 0, depth, true);
            bytes += bytes_of(&box);
        }
    return bytes;
}

/* Packs the fields of a message, or unpacks them. */
static void copy_all(const struct miniapp_state *state, struct slot *const *slots, size_t count,
                     enum miniapp_side side, size_t round, size_t depth, bool is_out, char *message)
{
    const struct kernel_functions *const functions = backend_of(state)->functions(state->precision);
    for (size_t i = 0; i < count; i++)
        if (has_axis(slots[i]->field, axis_of(side))) {
            const struct field_box box = box_of(state, slots[i], side, round, depth, is_out);
            functions->copy_box(&box, slots[i]->device, message, is_out);
            message += bytes_of(&box);
        }
}

/* The fields of an exchange, and how many of their ghosts a round brings. */
struct load {
    struct slot *const *slots;
    size_t count, round, depth;
};

/* Packs what goes to the neighbour beyond a side, and makes room for what comes from there. */
static enum miniapp_status pack(struct miniapp_state *state, const struct load *load,
                                enum miniapp_side side, size_t bytes, int rank,
                                struct message *message)
{
    struct buffer *const out = &state->exchange->out[side], *const in = &state->exchange->in[side];
    enum miniapp_status status = reserve(state, out, bytes);
    if (!status)
        status = reserve(state, in, bytes);
    if (status)
        return status;
    copy_all(state, load->slots, load->count, side, load->round, load->depth, true, out->device);
    *message = (struct message){rank, (int)side, (int)opposite(side), out->host, in->host, bytes};
    return to_host(state, out->host, out->device, bytes) ? MINIAPP_DONE : copy_failed(state);
}

static enum miniapp_status unpack(struct miniapp_state *state, const struct load *load,
                                  enum miniapp_side side, const struct message *message)
{
    const struct buffer *const in = &state->exchange->in[side];
    if (!to_device(state, in->device, in->host, message->bytes))
        return copy_failed(state);
    copy_all(state, load->slots, load->count, side, load->round, load->depth, false, in->device);
    return MINIAPP_DONE;
}

/* One round along an axis. */
static enum miniapp_status exchange_round(struct miniapp_state *state, const struct load *load,
                                          enum miniapp_axis axis)
{
    const enum miniapp_side sides[] = {axis == MINIAPP_X ? MINIAPP_WEST : MINIAPP_SOUTH,
                                       axis == MINIAPP_X ? MINIAPP_EAST : MINIAPP_NORTH};
    struct message messages[2];
    size_t sent = 0;
    enum miniapp_status status = MINIAPP_DONE;
    for (size_t i = 0; i < 2 && !status; i++) {
        const int rank = neighbour(state->exchange, sides[i], state->cyclic_x);
        const size_t bytes = bytes_of_all(state, load->slots, load->count, sides[i], load->depth);
        if (rank >= 0 && bytes > 0)
            status = pack(state, load, sides[i], bytes, rank, &messages[sent++]);
    }
    if (!status)
        ranks_exchange(messages, sent);
    for (size_t i = 0; i < sent && !status; i++)
        status = unpack(state, load, (enum miniapp_side)messages[i].sent_as, &messages[i]);
    return status;
}

/* Along x in the memory of the state, where one block has all of it. */
static void turn_round(struct miniapp_state *state, struct slot *const *slots, size_t count)
{
    const size_t nx = state->grid.nx;
    const struct kernel_functions *const functions = backend_of(state)->functions(state->precision);
    for (size_t i = 0; i < count; i++)
        if (has_axis(slots[i]->field, MINIAPP_X))
            functions->exchange_x(slots[i]->device,
                                  miniapp_element_bytes(slots[i]->field->type, state->precision),
                                  nx, miniapp_field_elements(slots[i]->field, &state->grid) / nx);
}

/* Rows first, with their ghosts along y; then columns, with the ghosts along x that came so. */
enum miniapp_status exchange_ghosts(struct miniapp_state *state, struct slot *const *slots,
                                    size_t count)
{
    const double start = seconds_now();
    struct exchange *const exchange = state->exchange;
    enum miniapp_status status = MINIAPP_DONE;
    backend_of(state)->select(state->device->number);
    if (state->cyclic_x && (!exchange || exchange->blocks.along_x == 1))
        turn_round(state, slots, count);
    for (enum miniapp_axis axis = MINIAPP_X; axis <= MINIAPP_Y && exchange; axis++) {
        const int blocks = axis == MINIAPP_X ? exchange->blocks.along_x : exchange->blocks.along_y;
        const size_t times = rounds(exchange, axis);
        for (size_t round = 0; round < times && blocks > 1 && !status; round++) {
            const struct load load = {slots, count, round, MINIAPP_HALO / times};
            status = exchange_round(state, &load, axis);
        }
    }
    if (exchange)
        exchange->seconds += seconds_now() - start;
    return status;
}

/* ---- sums ---- */

/* A rank that fails here ends all, since others wait for its sum. */
static void check(const struct miniapp_state *state, bool is_done)
{
    if (!is_done) {
        copy_failed(state);
        ranks_abort(MINIAPP_DEVICE);
    }
}

static void *passage(struct miniapp_state *state, size_t bytes)
{
    struct exchange *const exchange = state->exchange;
    if (exchange->sums_bytes < bytes) {
        free(exchange->sums);
        exchange->sums = malloc(bytes);
        exchange->sums_bytes = bytes;
    }
    if (!exchange->sums)
        ranks_abort(fail(MINIAPP_DEVICE, "out of memory for sums"));
    return exchange->sums;
}

static bool receive_sum(void *context, enum miniapp_side side, void *memory, size_t bytes)
{
    struct miniapp_state *const state = context;
    const int rank = neighbour(state->exchange, side, false);
    if (rank < 0)
        return false;
    const double start = seconds_now();
    void *const host = passage(state, bytes);
    ranks_receive(rank, host, bytes);
    check(state, to_device(state, memory, host, bytes));
    state->exchange->seconds += seconds_now() - start;
    return true;
}

static bool send_sum(void *context, enum miniapp_side side, const void *memory, size_t bytes)
{
    struct miniapp_state *const state = context;
    const int rank = neighbour(state->exchange, side, false);
    if (rank < 0)
        return false;
    const double start = seconds_now();
    void *const host = passage(state, bytes);
    check(state, to_host(state, host, memory, bytes));
    ranks_send(rank, host, bytes);
    state->exchange->seconds += seconds_now() - start;
    return true;
}

static void share_sum(void *context, void *memory, size_t bytes)
{
    struct miniapp_state *const state = context;
    const struct blocks *const blocks = &state->exchange->blocks;
    const int last = rank_of(blocks, blocks->along_x - 1, blocks->along_y - 1, false);
    const double start = seconds_now();
    void *const host = passage(state, bytes);
    if (last == ranks_own())
        check(state, to_host(state, host, memory, bytes));
    ranks_broadcast(last, host, bytes);
    check(state, to_device(state, memory, host, bytes));
    state->exchange->seconds += seconds_now() - start;
}

const struct blocks *exchange_blocks(const struct miniapp_state *state)
{
    return &state->exchange->blocks;
}

const struct carry *exchange_carry(struct miniapp_state *state)
{
    return state->exchange ? &state->exchange->carry : NULL;
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
    struct exchange *const exchange = calloc(1, sizeof(*exchange));
    if (!exchange)
        return fail(MINIAPP_DEVICE, "out of memory for messages to other processes");
    exchange->blocks = *blocks;
    exchange->block = block;
    exchange->carry = (struct carry){state, receive_sum, send_sum, share_sum};
    state->exchange = exchange;
    return MINIAPP_DONE;
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
    free(state->exchange->sums);
    free(state->exchange);
}
