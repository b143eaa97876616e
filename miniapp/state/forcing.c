#include "owned.h"
#include "state.h"
#include "status.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *record_name(const char *field, size_t record, char text[RECORD_NAME])
{
    snprintf(text, RECORD_NAME, "%s@%zu", field, record);
    return text;
}

const char *mean_name(const char *field, char text[RECORD_NAME])
{
    snprintf(text, RECORD_NAME, "%s@mean", field);
    return text;
}

static struct forcing *find_forcing(const struct miniapp_state *state, const struct slot *field)
{
    for (size_t i = 0; i < state->forcing_count; i++)
        if (state->forcings[i].field == field)
            return &state->forcings[i];
    return NULL;
}

/* The forcing of a field, which is added if there is none; NULL if memory is short. */
static struct forcing *take_forcing(struct miniapp_state *state, struct slot *field)
{
    struct forcing *const known = find_forcing(state, field);
    if (known)
        return known;
    struct forcing *const added = grow(&state->forcings, &state->forcing_count, sizeof(*added));
    if (added)
        added->field = field;
    return added;
}

enum miniapp_status state_force(struct miniapp_state *state, const char *name, size_t count,
                                double period)
{
    struct slot *const field = state_slot(state, name);
    if (!field)
        return MINIAPP_USAGE;
    struct forcing *const forcing = take_forcing(state, field);
    struct slot **const records =
        forcing ? realloc(forcing->records, count * sizeof(*records)) : NULL;
    TRY(allocated(records, "records of '%s'", name));
    state->forced_at = NAN;
    forcing->records = records;
    forcing->count = count;
    forcing->period = period;
    for (size_t i = 0; i < count; i++) {
        char text[RECORD_NAME];
        records[i] = state_added_slot(state, record_name(name, i, text), field->field);
        if (!records[i])
            return MINIAPP_DEVICE;
    }
    return MINIAPP_DONE;
}

/* The two records nearest to a time, and their weights. */
static void find_records(const struct forcing *forcing, double time, size_t record[2],
                         double weights[2])
{
    const double spacing = forcing->period / (double)forcing->count;
    const double since = fmod(time - 0.5 * spacing, forcing->period);
    const double place = since < 0 ? since + forcing->period : since;
    const size_t before = (size_t)(place / spacing);
    record[0] = before < forcing->count ? before : forcing->count - 1;
    record[1] = (record[0] + 1) % forcing->count;
    weights[1] = (place - spacing * (double)record[0]) / spacing;
    weights[0] = 1 - weights[1];
}

/* Makes a slot the weighted sum of two or three, of which it may be one. */
static enum miniapp_status blend_slots(struct miniapp_state *state, struct slot *to,
                                       struct slot *const *from, const double *weights,
                                       size_t count)
{
    const size_t nx = state->grid.nx;
    struct blended of = {.nx = nx, .rows = slot_elements(state, to) / nx};
    for (size_t i = 0; i < count; i++) {
        TRY(state_to_device(state, from[i]));
        of.fields[i] = from[i]->device;
        of.weights[i] = weights[i];
    }
    TRY(state_allocate(state, to));
    functions_for(state, to)->blend(&of, to->device);
    state_written(to, from[count - 1]->ghosts);
    return MINIAPP_DONE;
}

static enum miniapp_status apply(struct miniapp_state *state, const struct forcing *forcing,
                                 double time)
{
    size_t record[2];
    double weights[2];
    find_records(forcing, time, record, weights);
    struct slot *const from[] = {forcing->records[record[0]], forcing->records[record[1]]};
    TRY(blend_slots(state, forcing->field, from, weights, 2));
    forcing->field->is_checked = true;
    return MINIAPP_DONE;
}

enum miniapp_status state_apply_forcing(struct miniapp_state *state)
{
    const double *const setting = state->settings.value;
    const double time =
        setting[SETTING_start_time] + (double)state->steps * setting[SETTING_dt_tracer];
    enum miniapp_status status = MINIAPP_DONE;
    if (time == state->forced_at)
        return MINIAPP_DONE;
    for (size_t i = 0; i < state->forcing_count && !status; i++)
        if (state->forcings[i].count > 0)
            status = apply(state, &state->forcings[i], time);
    if (state->forcing_count > 0)
        status = state_agrees(state, status);
    state->forced_at = status ? NAN : time;
    return status;
}

void state_stop_forcing(struct miniapp_state *state, const struct slot *slot)
{
    struct forcing *const forcing = find_forcing(state, slot);
    if (forcing)
        forcing->count = 0;
}

bool state_is_forced(const struct miniapp_state *state, const char *name)
{
    for (size_t i = 0; i < state->forcing_count; i++)
        if (state->forcings[i].count > 0 && strcmp(state->forcings[i].field->name, name) == 0)
            return true;
    return false;
}

enum miniapp_status miniapp_state_average(struct miniapp_state *state, const char *name,
                                          size_t number)
{
    char text[RECORD_NAME];
    struct slot *const from = state_slot(state, name);
    struct slot *const mean =
        from ? state_added_slot(state, mean_name(name, text), from->field) : NULL;
    if (!mean)
        return from ? MINIAPP_DEVICE : MINIAPP_USAGE;
    const double weight = 1 / (double)number;
    struct slot *const both[] = {number > 1 ? mean : from, from};
    return blend_slots(state, mean, both, (double[]){1 - weight, weight}, 2);
}

enum miniapp_status miniapp_state_add_up(struct miniapp_state *state, const char *sum,
                                         const char *first, const char *second)
{
    const char *const names[] = {sum, first, second};
    const size_t count = second ? 3 : 2;
    struct slot *from[3];
    for (size_t i = 0; i < count; i++) {
        from[i] = state_slot(state, names[i]);
        if (!from[i])
            return MINIAPP_USAGE;
        const struct miniapp_field *const field = from[i]->field;
        if (!same_shape(field, from[0]->field) || !miniapp_is_real(field->type) ||
            !has_axis(field, MINIAPP_X))
            return fail(MINIAPP_USAGE, "'%s' cannot be added to '%s'", names[i], sum);
    }
    return blend_slots(state, from[0], from, (double[]){1, 1, 1}, count);
}

void forcing_free(struct miniapp_state *state)
{
    for (size_t i = 0; i < state->forcing_count; i++)
        free(state->forcings[i].records);
    free(state->forcings);
}
