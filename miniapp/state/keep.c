#include "clock.h"
#include "owned.h"
#include "ranks.h"
#include "state.h"
#include "status.h"

#include <stdlib.h>
#include <string.h>

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
        state->kernel_status = state_ends_all(state, status);
    return status ? NULL : room;
}

/* With the numbers, all processes learn whether one of them has failed. */
static void reduce(void *context, bool is_sum, double *numbers, size_t count)
{
    struct miniapp_state *const state = context;
    const double start = seconds_now();
    if (state->exchange) {
        numbers[count] = state->kernel_status != MINIAPP_DONE;
        ranks_reduce(is_sum ? RANKS_SUM : RANKS_LARGEST, numbers, count + 1);
        if (numbers[count] > 0)
            state->kernel_status = state_agrees(state, state->kernel_status);
    }
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

static void *no_memory(const struct kept *kept, size_t bytes)
{
    kept->state->kernel_status =
        fail(MINIAPP_DEVICE, "out of memory: a kernel keeps %.3g GB", (double)bytes / 1e9);
    return NULL;
}

/* The system hands out more memory than it has, and kills the process that uses it. */
static bool host_lacks(const struct kept *kept, size_t bytes)
{
    const size_t small = 1 << 20;
    char lack[MINIAPP_LACK];
    if (bytes < small || miniapp_host_has((double)bytes, lack))
        return false;
    kept->state->kernel_status =
        fail(MINIAPP_DEVICE, "out of memory for what a kernel keeps: it %s", lack);
    return true;
}

static void *give_host(void *context, size_t bytes)
{
    struct kept *const kept = context;
    if (host_lacks(kept, bytes))
        return NULL;
    void **const piece = grow(&kept->host, &kept->host_pieces, sizeof(*piece));
    if (piece)
        *piece = calloc(1, bytes);
    return piece && *piece ? *piece : no_memory(kept, bytes);
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
    if (miniapp_device_takes_host_memory(kept->state->device) && host_lacks(kept, bytes))
        return NULL;
    OWNED void *const zeros = calloc(1, bytes);
    void **const piece = grow(&kept->device, &kept->device_pieces, sizeof(*piece));
    if (zeros && piece)
        *piece = device_allocate(kept->state->device, bytes, 0);
    if (!zeros || !piece || !*piece)
        return no_memory(kept, bytes);
    kept->device_bytes += (double)bytes;
    kept->state->bytes += (double)bytes;
    return send_to_device(kept, *piece, zeros, bytes) ? *piece : NULL;
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
    if (!state->kernel_status)
        state->kernel_status = state->is_in_step
                                   ? fail(MINIAPP_MISMATCH, "step %zu: %s", state->steps + 1, line)
                                   : fail(MINIAPP_MISMATCH, "%s", line);
}

static void tell(void *context, const char *line)
{
    (void)context;
    warn("%s", line);
}

static void solved(void *context, int iterations, int nests, double left)
{
    struct kept *const kept = context;
    kept->solution = (struct miniapp_solution){true, iterations, nests, left};
}

/* Whether a field is of the grid: a line, a mask or an index. */
static bool is_of_grid(const struct slot *slot)
{
    return slot && (!miniapp_is_real(slot->field->type) || miniapp_field_rank(slot->field) <= 1);
}

struct kept *kept_for(struct miniapp_state *state, const struct miniapp_kernel *kernel,
                      struct slot *const *slots)
{
    struct slot *grid[MOST_ARGUMENTS] = {0};
    for (size_t i = 0; i < kernel->argument_count; i++)
        grid[i] = is_of_grid(slots[i]) ? slots[i] : NULL;
    struct kept *kept = state->kept;
    while (kept && (kept->kernel != kernel || memcmp(kept->grid, grid, sizeof(grid)) != 0))
        kept = kept->next;
    if (kept || !(kept = calloc(1, sizeof(*kept))))
        return kept;
    *kept = (struct kept){.state = state, .next = state->kept, .kernel = kernel};
    memcpy(kept->grid, grid, sizeof(grid));
    return state->kept = kept;
}

void forget(struct kept *kept)
{
    for (size_t i = 0; i < kept->host_pieces; i++)
        free(kept->host[i]);
    for (size_t i = 0; i < kept->device_pieces; i++)
        backend_of(kept->state)->release(kept->state->device->number, kept->device[i]);
    kept->state->bytes -= kept->device_bytes;
    free(kept->device);
    free(kept->host);
    miniapp_plan_free(kept->whole_plan);
    miniapp_state_free(kept->whole);
    const struct kept was = *kept;
    *kept = (struct kept){.state = was.state, .next = was.next, .kernel = was.kernel};
    memcpy(kept->grid, was.grid, sizeof(was.grid));
}

void keep_free(struct miniapp_state *state)
{
    for (struct kept *kept = state->kept, *next; kept; kept = next) {
        next = kept->next;
        forget(kept);
        free(kept);
    }
}

/* How often the grid's fields among a kernel's arguments were set. */
static size_t changes_of_grid(const struct kept *kept)
{
    size_t changes = 0;
    for (size_t i = 0; i < kept->kernel->argument_count; i++)
        changes += kept->grid[i] ? kept->grid[i]->changes : 0;
    return changes;
}

/* Whether the kernel's settings are those of its memory. */
static bool has_settings(const struct kept *kept, const struct miniapp_settings *now)
{
    for (size_t i = 0; i < kept->kernel->setting_count; i++) {
        const enum setting_id id = kept->kernel->settings[i];
        if (kept->settings.value[id] != now->value[id])
            return false;
    }
    return true;
}

struct keeper keeper_of(struct miniapp_state *state, struct kept *kept)
{
    const size_t changes = changes_of_grid(kept);
    if (kept->host_pieces > 0 && (kept->changes != changes || kept->cyclic_x != state->cyclic_x ||
                                  !has_settings(kept, &state->settings)))
        forget(kept);
    kept->changes = changes;
    kept->settings = state->settings;
    kept->cyclic_x = state->cyclic_x;
    return (struct keeper){kept,        recall,    give_host, give_device, send_to_device,
                           lack_memory, fail_step, tell,      solved};
}

/* ---- the whole ocean ---- */

static enum miniapp_status open_whole(struct miniapp_state *state, struct kept *kept,
                                      const struct miniapp_kernel *kernel)
{
    const struct miniapp_sequence *sequence;
    TRY(miniapp_sequence_find(kernel->name, &sequence));
    TRY(miniapp_state_create(state->device, state->precision, &state->whole, &kept->whole));
    return miniapp_plan_create(kept->whole, sequence, NULL, &kept->whole_plan);
}

static enum miniapp_status gather_field(struct miniapp_state *state, struct miniapp_state *whole,
                                        struct slot *from, struct slot *to, bool is_new,
                                        double *values)
{
    TRY(state_gather_all(state, from->name, true, is_new, values));
    ranks_broadcast(RANKS_ALL, values, slot_elements(whole, to) * sizeof(*values));
    const enum miniapp_status status = miniapp_state_set(whole, to->name, values);
    return is_new ? state_agrees(state, status) : status;
}

/* Takes a field's own block, ghosts included, out of the whole. */
static enum miniapp_status take_block(struct miniapp_state *state, struct miniapp_state *whole,
                                      struct slot *to, const struct slot *from, double *values,
                                      const struct argument *argument)
{
    const struct planes p = slot_planes(state, to);
    const size_t nx = slot_planes(whole, from).nx, plane = slot_planes(whole, from).elements;
    double *const own = values + p.count * plane;
    TRY(miniapp_state_get(whole, from->name, values));
    for (size_t i = 0; i < p.count; i++)
        for (size_t y = 0; y < p.ny; y++)
            memcpy(own + i * p.elements + y * p.nx,
                   values + i * plane + (state->y0 + y) * nx + state->x0, p.nx * sizeof(*own));
    TRY(miniapp_state_set(state, to->name, own));
    state_written(to, argument->ghosts);
    return MINIAPP_DONE;
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

static enum miniapp_status run_whole(struct miniapp_state *state, struct kept *kept,
                                     struct slot *const *slots, bool is_new)
{
    const struct miniapp_kernel *const kernel = kept->kernel;
    enum miniapp_status status = kept->whole ? MINIAPP_DONE : open_whole(state, kept, kernel);
    OWNED double *const values = status ? NULL : room_for(kept->whole, kernel);
    kept->changes = changes_of_grid(kept);
    TRY(state_agrees(state, status ? status : allocated(values, "a gathered field")));
    kept->whole->settings = state->settings;
    miniapp_state_set_cyclic(kept->whole, state->cyclic_x);
    double start = seconds_now();
    for (size_t i = 0; i < kernel->argument_count; i++) {
        struct slot *const to = state_slot(kept->whole, fields[kernel->arguments[i].field].name);
        if (kernel->arguments[i].access != MINIAPP_WRITE && (is_new || !is_of_grid(slots[i])))
            TRY(gather_field(state, kept->whole, slots[i], to, is_new, values));
    }
    exchange_note(state, start, true);
    status = miniapp_plan_run(kept->whole_plan);
    TRY(is_new ? state_agrees(state, status) : status);
    kept->solution = miniapp_plan_solution(kept->whole_plan);
    start = seconds_now();
    status = MINIAPP_DONE;
    for (size_t i = 0; i < kernel->argument_count && !status; i++)
        if (kernel->arguments[i].access != MINIAPP_READ)
            status = take_block(state, kept->whole, slots[i],
                                state_slot(kept->whole, fields[kernel->arguments[i].field].name),
                                values, &kernel->arguments[i]);
    exchange_note(state, start, true);
    return is_new ? state_agrees(state, status) : status;
}

/* Memory that is not new stays where a run fails, since it may have failed in this process alone:
 * in the next run, it has to be new in all processes or in none. */
enum miniapp_status whole_run(struct miniapp_state *state, struct kept *kept,
                              struct slot *const *slots)
{
    const bool is_new = !kept->whole || kept->changes != changes_of_grid(kept);
    const enum miniapp_status status = run_whole(state, kept, slots, is_new);
    kept->solution.is_there &= !status;
    if (status && is_new)
        forget(kept);
    return status;
}
