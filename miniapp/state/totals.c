#include "totals.h"
#include "clock.h"
#include "exchange.h"
#include "ranks.h"
#include "status.h"

static const double *on_host(void *context, const double *scratch, size_t count)
{
    struct miniapp_state *const state = context;
    const struct backend *const backend = state->device->backend;
    if (backend->is_host)
        return scratch;
    double *const room = state_room(state, count);
    if (!room)
        state->kernel_status = fail(MINIAPP_DEVICE, "out of memory for sums");
    else if (!backend->from_device(state->device->number, room, scratch, count * sizeof(*room)))
        state->kernel_status =
            fail(MINIAPP_DEVICE, "copies from device '%s' failed", state->device->label);
    return state->kernel_status ? NULL : room;
}

static void reduce(void *context, bool is_sum, double *numbers, size_t count)
{
    struct miniapp_state *const state = context;
    const double start = seconds_now();
    if (state->exchange)
        ranks_reduce(is_sum ? RANKS_SUM : RANKS_LARGEST, numbers, count);
    exchange_note(state, start);
}

struct totals totals_of(struct miniapp_state *state)
{
    return (struct totals){state, on_host, reduce};
}
