#include "keep.h"
#include "clock.h"
#include "exchange.h"
#include "ranks.h"
#include "status.h"

#include <stdlib.h>

/* ---- sums ---- */

static const double *on_host(void *context, const double *scratch, size_t count)
{
    struct miniapp_state *const state = context;
    if (backend_of(state)->is_host)
        return scratch;
    double *const room = state_room(state, count);
    const enum miniapp_status status =
        room ? device_fetch(state->device, room, scratch, count * sizeof(*room), "sums")
             : fail(MINIAPP_DEVICE, "out of memory for sums");
    if (status)
        state->kernel_status = status;
    return status ? NULL : room;
}

static void reduce(void *context, bool is_sum, double *numbers, size_t count)
{
    struct miniapp_state *const state = context;
    const double start = seconds_now();
    if (state->exchange)
        ranks_reduce(is_sum ? RANKS_SUM : RANKS_LARGEST, numbers, count);
    exchange_note(state, start, false);
}

struct totals totals_of(struct miniapp_state *state)
{
    return (struct totals){state, on_host, reduce};
}

/* ---- memory ---- */

static void *recall(void *context)
{
    const struct kept *const kept = context;
    return kept->host_pieces > 0 ? kept->host[0] : NULL;
}

/* Makes room for one more piece. */
static bool can_add(void ***pieces, size_t count)
{
    void **const more = realloc(*pieces, (count + 1) * sizeof(*more));
    if (more)
        *pieces = more;
    return more;
}

static void *no_memory(const struct kept *kept, size_t bytes)
{
    kept->state->kernel_status =
        fail(MINIAPP_DEVICE, "out of memory: a kernel keeps %.3g GB", (double)bytes / 1e9);
    return NULL;
}

static void *give_host(void *context, size_t bytes)
{
    struct kept *const kept = context;
    void *const memory = can_add(&kept->host, kept->host_pieces) ? calloc(1, bytes) : NULL;
    if (!memory)
        return no_memory(kept, bytes);
    return kept->host[kept->host_pieces++] = memory;
}

static bool send_to_device(void *context, void *device, const void *host, size_t bytes)
{
    const struct kept *const kept = context;
    const enum miniapp_status status =
        device_send(kept->state->device, device, host, bytes, "a kernel's memory");
    if (status)
        kept->state->kernel_status = status;
    return !status;
}

static void *give_device(void *context, size_t bytes)
{
    struct kept *const kept = context;
    void *const memory = can_add(&kept->device, kept->device_pieces)
                             ? device_allocate(kept->state->device, bytes)
                             : NULL;
    if (memory) {
        kept->device[kept->device_pieces++] = memory;
        kept->device_bytes += (double)bytes;
        kept->state->bytes += (double)bytes;
    }
    void *const zeros = memory ? calloc(1, bytes) : NULL;
    if (!zeros)
        return no_memory(kept, bytes);
    const bool is_cleared = send_to_device(kept, memory, zeros, bytes);
    free(zeros);
    return is_cleared ? memory : NULL;
}

static void lack_memory(void *context)
{
    const struct kept *const kept = context;
    if (!kept->state->kernel_status)
        kept->state->kernel_status = fail(MINIAPP_DEVICE, "out of memory for an elliptic problem");
}

static void fail_step(void *context, const char *line)
{
    const struct kept *const kept = context;
    struct miniapp_state *const state = kept->state;
    state->kernel_status = state->is_in_step
                               ? fail(MINIAPP_MISMATCH, "step %zu: %s", state->steps + 1, line)
                               : fail(MINIAPP_MISMATCH, "%s", line);
}

static void tell(void *context, const char *line)
{
    (void)context;
    warn("%s", line);
}

/* The state knows whose memory it has to free before its own, because plans may be freed later. */
void keep_for(struct miniapp_state *state, struct kept *kept)
{
    if (kept->state)
        return;
    kept->state = state;
    kept->next = state->kept;
    state->kept = kept;
}

static void leave_state(const struct kept *kept)
{
    struct kept **at = &kept->state->kept;
    while (*at != kept)
        at = &(*at)->next;
    *at = kept->next;
}

void forget(struct kept *kept)
{
    if (!kept->state)
        return;
    leave_state(kept);
    for (size_t i = 0; i < kept->host_pieces; i++)
        free(kept->host[i]);
    for (size_t i = 0; i < kept->device_pieces; i++)
        backend_of(kept->state)->release(kept->state->device->number, kept->device[i]);
    kept->state->bytes -= kept->device_bytes;
    free(kept->device);
    free(kept->host);
    miniapp_plan_free(kept->whole_plan);
    miniapp_state_free(kept->whole);
    *kept = (struct kept){0};
}

bool is_of_grid(const struct slot *slot)
{
    return !miniapp_is_real(slot->field->type) || miniapp_field_rank(slot->field) <= 1;
}

size_t changes_of_grid(const struct miniapp_kernel *kernel, struct slot *const *slots)
{
    size_t changes = 0;
    for (size_t i = 0; i < kernel->argument_count; i++)
        if (slots[i] && is_of_grid(slots[i]))
            changes += slots[i]->changes;
    return changes;
}

static bool same_settings(const struct miniapp_settings *a, const struct miniapp_settings *b)
{
    for (size_t id = 0; id < SETTINGS; id++)
        if (a->value[id] != b->value[id])
            return false;
    return true;
}

struct keeper keeper_of(struct miniapp_state *state, struct kept *kept,
                        const struct miniapp_kernel *kernel, struct slot *const *slots)
{
    const size_t changes = changes_of_grid(kernel, slots);
    if (kept->host_pieces > 0 && (kept->changes != changes || kept->cyclic_x != state->cyclic_x ||
                                  !same_settings(&kept->settings, &state->settings)))
        forget(kept);
    keep_for(state, kept);
    kept->changes = changes;
    kept->settings = state->settings;
    kept->cyclic_x = state->cyclic_x;
    return (struct keeper){kept,           recall,      give_host, give_device,
                           send_to_device, lack_memory, fail_step, tell};
}
