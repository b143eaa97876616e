/* Kernels that need the whole ocean, in a run of several processes. */
#include "clock.h"
#include "exchange.h"
#include "keep.h"
#include "ranks.h"
#include "status.h"

#include <stdlib.h>
#include <string.h>

static enum miniapp_status open_whole(struct miniapp_state *state, struct kept *kept,
                                      const struct miniapp_kernel *kernel)
{
    const struct miniapp_sequence *sequence;
    enum miniapp_status status = miniapp_sequence_find(kernel->name, &sequence);
    if (!status)
        status = miniapp_state_create(state->device, state->precision, &state->whole, &kept->whole);
    if (!status)
        status = miniapp_plan_create(kept->whole, sequence, NULL, &kept->whole_plan);
    return status;
}

static enum miniapp_status gather_field(struct miniapp_state *state, struct miniapp_state *whole,
                                        struct slot *from, struct slot *to, double *values)
{
    const enum miniapp_status status = state_gather_all(state, from->name, true, values);
    if (status)
        return status;
    ranks_broadcast(RANKS_ALL, values, slot_elements(whole, to) * sizeof(*values));
    return miniapp_state_set(whole, to->name, values);
}

/* Takes a field's own block, ghosts included, out of the whole. */
static enum miniapp_status take_block(struct miniapp_state *state, struct miniapp_state *whole,
                                      struct slot *to, const struct slot *from, double *values,
                                      const struct argument *argument)
{
    const struct block_planes p = block_planes_of(state, to);
    const size_t nx = block_planes_of(whole, from).nx,
                 plane = block_planes_of(whole, from).elements;
    double *const own = values + p.count * plane;
    enum miniapp_status status = miniapp_state_get(whole, from->name, values);
    for (size_t i = 0; i < p.count && !status; i++)
        for (size_t y = 0; y < p.ny; y++)
            memcpy(own + i * p.elements + y * p.nx,
                   values + i * plane + (state->y0 + y) * nx + state->x0, p.nx * sizeof(*own));
    if (!status)
        status = miniapp_state_set(state, to->name, own);
    state_written(to, argument->ghosts);
    return status;
}

/* Room for a field of the whole and, behind it, of the block. */
static double *room_for(const struct miniapp_state *whole, const struct miniapp_kernel *kernel)
{
    size_t most = 0;
    for (size_t i = 0; i < kernel->argument_count; i++) {
        const size_t elements =
            miniapp_field_elements(&fields[kernel->arguments[i].field], &whole->grid);
        most = most < elements ? elements : most;
    }
    return malloc(2 * most * sizeof(double));
}

enum miniapp_status whole_run(struct miniapp_state *state, struct kept *kept,
                              const struct miniapp_kernel *kernel, struct slot *const *slots)
{
    const size_t changes = changes_of_grid(kernel, slots);
    keep_for(state, kept);
    const bool is_new = !kept->whole || kept->changes != changes;
    enum miniapp_status status = kept->whole ? MINIAPP_DONE : open_whole(state, kept, kernel);
    double *const values = status ? NULL : room_for(kept->whole, kernel);
    if (!status && !values)
        status = fail(MINIAPP_DEVICE, "out of memory for a gathered field");
    status = ranks_agree(status);
    kept->changes = changes;
    if (!status)
        kept->whole->settings = state->settings;
    if (!status)
        miniapp_state_set_cyclic(kept->whole, state->cyclic_x);
    double start = seconds_now();
    for (size_t i = 0; i < kernel->argument_count && !status; i++) {
        struct slot *const to = state_slot(kept->whole, fields[kernel->arguments[i].field].name);
        if (kernel->arguments[i].access != MINIAPP_WRITE && (is_new || !is_of_grid(slots[i])))
            status = gather_field(state, kept->whole, slots[i], to, values);
    }
    exchange_note(state, start, true);
    if (!status)
        status = miniapp_plan_run(kept->whole_plan);
    start = seconds_now();
    for (size_t i = 0; i < kernel->argument_count && !status; i++)
        if (kernel->arguments[i].access != MINIAPP_READ)
            status = take_block(state, kept->whole, slots[i],
                                state_slot(kept->whole, fields[kernel->arguments[i].field].name),
                                values, &kernel->arguments[i]);
    exchange_note(state, start, true);
    free(values);
    return status;
}
