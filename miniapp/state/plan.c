/* Sequences bound to the fields of a state. */
#include "clock.h"
#include "state.h"
#include "status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The next use of a field that a step has written. */
enum use { NO_USE, WRITTEN, GHOSTS_READ, GHOSTS_READ_IN_NEXT };

struct bound_step {
    const struct miniapp_kernel *kernel;
    struct condition condition;
    kernel_function *run;
    struct slot *slot[MOST_ARGUMENTS]; /* of an argument that is not scratch */
    size_t scratch[MOST_ARGUMENTS];    /* the number of one that is */
    size_t bytes[MOST_ARGUMENTS];      /* that the scratch needs */
    enum use later[MOST_ARGUMENTS];    /* what comes after, in this run or in the next one */
    struct kept *kept;
    double seconds;
};

struct miniapp_plan {
    struct miniapp_state *state;
    size_t count;
    struct bound_step *steps;
    size_t start_count; /* how many of the first steps run only once */
    bool has_started, advances;
    size_t level_count;
    struct level_pair {
        struct slot *slots[2]; /* time levels that change places */
        struct condition condition;
    } *levels;
};

/* The state's name for a field of the sequence, which is another one where there is a binding. */
static bool rename_field(const char *bindings, const char *name, char other[MOST_NAME])
{
    enum miniapp_status status;
    struct binding binding;
    while (bindings && next_binding(&bindings, &binding, &status))
        if (strcmp(binding.name, name) == 0) {
            strcpy(other, binding.other);
            return true;
        }
    strcpy(other, name);
    return false;
}

/* Whether a step needs memory for a field. */
static bool needs(const struct miniapp_state *state, const struct bound_step *step, size_t i)
{
    const double *const setting = state->settings.value;
    return holds(&step->condition, setting) &&
           (reads_argument(step->kernel, i, setting) || writes_argument(step->kernel, i, setting));
}

static enum miniapp_status bind_slot(struct miniapp_plan *plan, struct bound_step *step, size_t i,
                                     const struct miniapp_field *field, const char *bindings)
{
    char name[MOST_NAME];
    rename_field(bindings, field->name, name);
    struct slot *const slot = state_slot(plan->state, name);
    if (!slot)
        return MINIAPP_USAGE;
    if (!same_shape(slot->field, field))
        return fail(MINIAPP_USAGE, "'%s' cannot stand for '%s': it has other axes or another type",
                    name, field->name);
    step->slot[i] = slot;
    return needs(plan->state, step, i) ? state_allocate(plan->state, slot) : MINIAPP_DONE;
}

/* A field that a kernel writes must not be another of its arguments, too: its loops rely on
 * that. */
static enum miniapp_status check_aliases(const struct bound_step *step)
{
    const struct miniapp_kernel *const kernel = step->kernel;
    for (size_t i = 0; i < kernel->argument_count; i++)
        for (size_t j = 0; j < kernel->argument_count; j++)
            if (i != j && step->slot[i] && step->slot[i] == step->slot[j] &&
                kernel->arguments[i].access != MINIAPP_READ)
                return fail(MINIAPP_USAGE,
                            "'%s' and '%s' of kernel '%s' are both '%s', which it "
                            "writes",
                            kernel->arguments[i].name, kernel->arguments[j].name, kernel->name,
                            step->slot[i]->name);
    return MINIAPP_DONE;
}

/* A state's settings are set in double; its kernels may take them in float32. */
static enum miniapp_status check_settings_of(const struct miniapp_state *state,
                                             const struct miniapp_kernel *kernel)
{
    for (size_t i = 0; i < kernel->setting_count; i++)
        TRY(miniapp_setting_check(&settings[kernel->settings[i]],
                                  state->settings.value[kernel->settings[i]], state->precision,
                                  kernel->name, MINIAPP_USAGE));
    return MINIAPP_DONE;
}

static bool has_field(const struct miniapp_sequence *sequence, const char *name)
{
    const struct miniapp_field *const field = miniapp_field_find(name);
    for (size_t s = 0; field && s < sequence->count; s++)
        if (has_argument_of(&sequence->steps[s], field_id(field)))
            return true;
    return false;
}

static enum miniapp_status bind_step(struct miniapp_plan *plan, const struct step *from,
                                     const char *bindings, struct bound_step *step)
{
    const struct miniapp_state *const state = plan->state;
    const struct miniapp_kernel *const kernel = from->kernel;
    size_t scratch = 0;
    step->kernel = kernel;
    step->condition = from->condition;
    step->run = state->device->backend->functions[state->precision]->run[kernel->id];
    for (size_t i = 0; i < kernel->argument_count; i++) {
        const struct miniapp_field *const field = &fields[from->field[i]];
        if (kernel->arguments[i].access == MINIAPP_SCRATCH)
            TRY(state_scratch(plan->state, step->scratch[i] = scratch++, field, &step->bytes[i]));
        else
            TRY(bind_slot(plan, step, i, field, bindings));
    }
    step->kept = kept_for(plan->state, kernel, step->slot);
    TRY(allocated(step->kept, "what a kernel keeps"));
    TRY(check_aliases(step));
    return check_settings_of(state, kernel);
}

static enum miniapp_status bind_levels(struct miniapp_plan *plan, const struct levels *levels,
                                       const char *bindings)
{
    for (size_t i = 0; i < plan->level_count; i++) {
        const enum field_id ids[2] = {levels[i].before, levels[i].after};
        for (int n = 0; n < 2; n++) {
            char name[MOST_NAME];
            rename_field(bindings, fields[ids[n]].name, name);
            plan->levels[i].slots[n] = state_slot(plan->state, name);
            if (!plan->levels[i].slots[n])
                return MINIAPP_USAGE;
        }
        plan->levels[i].condition = levels[i].condition;
    }
    return MINIAPP_DONE;
}

/* Checks that each binding is of a field of the sequence. */
static enum miniapp_status check_bindings(const struct miniapp_sequence *sequence,
                                          const char *bindings)
{
    enum miniapp_status status = MINIAPP_DONE;
    struct binding binding;
    while (bindings && next_binding(&bindings, &binding, &status)) {
        if (!has_field(sequence, binding.name))
            return fail(MINIAPP_USAGE, "'%s' has no field '%s'", sequence->name, binding.name);
        if (rename_field(bindings, binding.name, (char[MOST_NAME]){0}))
            return fail(MINIAPP_USAGE, "'%s' is bound twice", binding.name);
    }
    return status;
}

/* ---- what later steps read ---- */

/* Whether a kernel reads more ghosts of an argument than there are. */
static bool reads_more(const struct argument *argument, const signed char ghosts[MINIAPP_SIDES])
{
    for (int side = 0; side < MINIAPP_SIDES; side++)
        if (argument->ghosts[side] > ghosts[side])
            return true;
    return false;
}

/* The first use of a field, with these ghosts current, in steps from `begin` to before `end`. */
static enum use first_use(const struct miniapp_plan *plan, size_t begin, size_t end,
                          const struct slot *slot, const signed char *ghosts)
{
    for (size_t s = begin; s < end; s++)
        for (size_t i = 0; i < plan->steps[s].kernel->argument_count; i++) {
            const struct argument *const argument = &plan->steps[s].kernel->arguments[i];
            if (plan->steps[s].slot[i] != slot)
                continue;
            if (argument->access != MINIAPP_WRITE && reads_more(argument, ghosts))
                return GHOSTS_READ;
            if (argument->access != MINIAPP_READ)
                return WRITTEN;
        }
    return NO_USE;
}

/* Where the values of a field are in the next step in time; they may change places twice. */
static const struct slot *place_after(const struct miniapp_plan *plan, const struct slot *slot)
{
    for (size_t i = 0; i < plan->level_count; i++)
        for (int n = 0; n < 2; n++)
            if (plan->levels[i].slots[n] == slot) {
                slot = plan->levels[i].slots[1 - n];
                break;
            }
    return slot;
}

/* The next step in time may read what this one leaves, so its kernels count, too. */
static enum use use_after(const struct miniapp_plan *plan, size_t s, const struct slot *slot,
                          const signed char *ghosts)
{
    const enum use use = first_use(plan, s + 1, plan->count, slot, ghosts);
    if (use != NO_USE || plan->level_count == 0)
        return use;
    const enum use next =
        first_use(plan, plan->start_count, s + 1, place_after(plan, slot), ghosts);
    return next == GHOSTS_READ ? GHOSTS_READ_IN_NEXT : NO_USE;
}

static void find_later_use(struct miniapp_plan *plan)
{
    for (size_t s = 0; s < plan->count; s++)
        for (size_t i = 0; i < plan->steps[s].kernel->argument_count; i++) {
            struct bound_step *const step = &plan->steps[s];
            const struct argument *const argument = &step->kernel->arguments[i];
            if (argument->access != MINIAPP_WRITE && argument->access != MINIAPP_UPDATE)
                continue;
            step->later[i] = use_after(plan, s, step->slot[i], argument->ghosts);
        }
}

enum miniapp_status miniapp_plan_create(struct miniapp_state *state,
                                        const struct miniapp_sequence *sequence,
                                        const char *bindings, struct miniapp_plan **created)
{
    if (created)
        *created = NULL;
    if (!created || !state || !sequence)
        return null_given();
    struct miniapp_plan *const plan = calloc(1, sizeof(*plan));
    enum miniapp_status status = MINIAPP_DONE;
    if (plan)
        *plan = (struct miniapp_plan){
            .state = state,
            .count = sequence->count,
            .steps = calloc(sequence->count, sizeof(*plan->steps)),
            .start_count = sequence->start_count,
            .level_count = sequence->level_count,
            .levels = calloc(sequence->level_count + 1, sizeof(*plan->levels)),
        };
    if (!plan || !plan->steps || !plan->levels)
        status = fail(MINIAPP_DEVICE, "out of memory for a plan");
    if (!status)
        status = check_bindings(sequence, bindings);
    for (size_t s = 0; s < sequence->count && !status; s++)
        status = bind_step(plan, &sequence->steps[s], bindings, &plan->steps[s]);
    if (!status)
        status = bind_levels(plan, sequence->levels, bindings);
    if (!status)
        find_later_use(plan);
    status = state_agrees(state, status);
    if (status)
        miniapp_plan_free(plan);
    else
        *created = plan;
    return status;
}

void miniapp_plan_free(struct miniapp_plan *plan)
{
    if (plan) {
        free(plan->steps);
        free(plan->levels);
    }
    free(plan);
}

/* ---- running ---- */

/* Whether a step would overwrite ghosts that may be in flight, or needs them. It does not matter
 * whether they have arrived already, because all ranks have to wait before the same steps. */
static bool waits_for_ghosts(const struct miniapp_state *state, const struct bound_step *step)
{
    static const signed char no_ghosts[MINIAPP_SIDES] = {0};
    for (size_t i = 0; i < step->kernel->argument_count; i++) {
        const struct argument *const argument = &step->kernel->arguments[i];
        const struct slot *const slot = step->slot[i];
        if (slot && exchange_was_asked(state, slot) &&
            (argument->access != MINIAPP_READ || reads_more(argument, no_ghosts)))
            return true;
    }
    return false;
}

/* Lets messages make progress between two kernels. */
static enum miniapp_status overlap(struct miniapp_state *state, const struct bound_step *step)
{
    if (!exchange_overlaps(state))
        return MINIAPP_DONE;
    return waits_for_ghosts(state, step) ? exchange_finish(state) : exchange_progress(state);
}

static void ask_for_ghosts(const struct miniapp_plan *plan, const struct bound_step *step)
{
    struct slot *wanted[MOST_ARGUMENTS];
    size_t count = 0;
    for (size_t i = 0; i < step->kernel->argument_count; i++)
        if (needs(plan->state, step, i) &&
            (step->later[i] == GHOSTS_READ ||
             (step->later[i] == GHOSTS_READ_IN_NEXT && plan->advances)))
            wanted[count++] = step->slot[i];
    if (exchange_overlaps(plan->state))
        exchange_ask(plan->state, wanted, count);
}

/* Whether all that a step reads is on the device and checked, and what it writes has memory: if so,
 * then in all processes. */
static bool is_ready(const struct miniapp_state *state, const struct bound_step *step)
{
    const double *const setting = state->settings.value;
    for (size_t i = 0; i < step->kernel->argument_count; i++) {
        const struct slot *const slot = step->slot[i];
        const bool is_current = !slot || (slot->device_current && state_is_checked(state, slot));
        if (!is_current && (reads_argument(step->kernel, i, setting) ||
                            (writes_argument(step->kernel, i, setting) && !slot->device)))
            return false;
    }
    return true;
}

/* A field that the step writes may have been rotated with one that has no memory. */
static enum miniapp_status make_ready(struct miniapp_state *state, const struct bound_step *step)
{
    for (size_t i = 0; i < step->kernel->argument_count; i++)
        if (reads_argument(step->kernel, i, state->settings.value)) {
            TRY(state_to_device(state, step->slot[i]));
            TRY(state_check(state, step->slot[i]));
        } else if (writes_argument(step->kernel, i, state->settings.value)) {
            TRY(state_allocate(state, step->slot[i]));
        }
    return MINIAPP_DONE;
}

/* Brings up to date what the step reads. Settings may have changed. */
static enum miniapp_status prepare(struct miniapp_state *state, struct bound_step *step)
{
    TRY(check_settings_of(state, step->kernel));
    struct slot *lacking[MOST_ARGUMENTS];
    size_t lack = 0;
    TRY(overlap(state, step));
    if (!is_ready(state, step))
        TRY(state_agrees(state, make_ready(state, step)));
    for (size_t i = 0; i < step->kernel->argument_count; i++)
        if (step->slot[i] && reads_more(&step->kernel->arguments[i], step->slot[i]->ghosts) &&
            reads_argument(step->kernel, i, state->settings.value))
            lacking[lack++] = step->slot[i];
    return state_exchange(state, lacking, lack);
}

static enum miniapp_status run_step(struct miniapp_state *state, struct bound_step *step)
{
    if (step->kernel->is_whole && state->exchange)
        return whole_run(state, step->kept, step->slot);
    if (step->kernel->is_whole && lacks_parts(state))
        return fail(MINIAPP_USAGE, "kernel '%s' needs the whole ocean, of which this is a part",
                    step->kernel->name);
    const struct miniapp_kernel *const kernel = step->kernel;
    const struct totals totals = totals_of(state);
    void *argument[MOST_ARGUMENTS];
    const struct keeper keeper = keeper_of(state, step->kept);
    const struct kernel_call call = {state->grid, state->settings.value, argument, &totals,
                                     &keeper,     state->cyclic_x};
    state->kernel_status = MINIAPP_DONE;
    for (size_t i = 0; i < kernel->argument_count; i++)
        argument[i] =
            step->slot[i] ? step->slot[i]->device : state->scratch[step->scratch[i]].memory;
    step->run(&call);
    for (size_t i = 0; i < kernel->argument_count; i++)
        if (writes_argument(kernel, i, state->settings.value)) {
            state_written(step->slot[i], kernel->arguments[i].ghosts);
            step->slot[i]->is_checked = true;
        }
    if (state->kernel_status)
        forget(step->kept);
    return state->kernel_status;
}

static enum miniapp_status run_plan(struct miniapp_plan *plan, bool advances)
{
    if (!plan)
        return null_given();
    struct miniapp_state *const state = plan->state;
    enum miniapp_status status = state->device->backend->select(state->device->number);
    plan->advances = advances;
    state->is_in_step = advances;
    if (!status)
        status = state_apply_forcing(state);
    for (size_t s = plan->has_started ? plan->start_count : 0; s < plan->count && !status; s++) {
        const double start = seconds_now();
        plan->steps[s].seconds = 0;
        if (!holds(&plan->steps[s].condition, state->settings.value))
            continue;
        status = prepare(state, &plan->steps[s]);
        if (!status)
            status = run_step(state, &plan->steps[s]);
        if (!status)
            ask_for_ghosts(plan, &plan->steps[s]);
        plan->steps[s].seconds = seconds_now() - start;
    }
    if (!status && exchange_overlaps(state))
        status = exchange_finish(state);
    if (state->device->backend->wait)
        state->device->backend->wait();
    status = state_ends_all(state, status);
    plan->has_started = !status;
    return status;
}

enum miniapp_status miniapp_plan_run(struct miniapp_plan *plan)
{
    return run_plan(plan, false);
}

void miniapp_plan_restart(struct miniapp_plan *plan)
{
    if (plan)
        plan->has_started = false;
}

enum miniapp_status miniapp_plan_advance(struct miniapp_plan *plan)
{
    TRY(run_plan(plan, true));
    plan->state->steps++;
    plan->state->is_from_rest = false;
    for (size_t i = 0; i < plan->level_count; i++) {
        struct slot *const *const slots = plan->levels[i].slots;
        const char *const names[2] = {slots[0]->name, slots[1]->name};
        if (holds(&plan->levels[i].condition, plan->state->settings.value))
            TRY(miniapp_state_rotate(plan->state, names, 2));
    }
    return MINIAPP_DONE;
}

double miniapp_plan_seconds(const struct miniapp_plan *plan, size_t step)
{
    const size_t place = plan->start_count + step;
    return place < plan->count ? plan->steps[place].seconds : NAN;
}

/* Whether an earlier argument is the same field. */
static bool is_counted(const struct miniapp_plan *plan, size_t step, size_t argument)
{
    const struct slot *const slot = plan->steps[step].slot[argument];
    for (size_t s = 0; s <= step; s++) {
        const size_t count = s < step ? plan->steps[s].kernel->argument_count : argument;
        for (size_t i = 0; i < count; i++)
            if (plan->steps[s].slot[i] == slot && needs(plan->state, &plan->steps[s], i))
                return true;
    }
    return false;
}

struct miniapp_solution miniapp_plan_solution(const struct miniapp_plan *plan)
{
    for (size_t s = 0; s < plan->count; s++)
        if (plan->steps[s].kept->solution.is_there)
            return plan->steps[s].kept->solution;
    return (struct miniapp_solution){0};
}

/* The steps share their scratch. The state's scratch may be larger, because other plans need
 * more. */
double miniapp_plan_bytes(const struct miniapp_plan *plan)
{
    double bytes = 0;
    size_t scratch[MOST_ARGUMENTS] = {0};
    for (size_t s = 0; s < plan->count; s++) {
        const struct bound_step *const step = &plan->steps[s];
        bytes += step->kept->device_bytes;
        for (size_t i = 0; i < step->kernel->argument_count; i++) {
            if (step->slot[i] && needs(plan->state, step, i) && !is_counted(plan, s, i))
                bytes += (double)slot_bytes(plan->state, step->slot[i]);
            else if (!step->slot[i] && step->bytes[i] > scratch[step->scratch[i]])
                scratch[step->scratch[i]] = step->bytes[i];
        }
    }
    for (size_t i = 0; i < MOST_ARGUMENTS; i++)
        bytes += (double)scratch[i];
    return bytes;
}

enum miniapp_status miniapp_run(struct miniapp_state *state, const char *text)
{
    const struct miniapp_sequence *sequence;
    struct miniapp_plan *plan;
    TRY(miniapp_sequence_find(text, &sequence));
    TRY(miniapp_plan_create(state, sequence, NULL, &plan));
    const enum miniapp_status status = miniapp_plan_run(plan);
    miniapp_plan_free(plan);
    return status;
}
