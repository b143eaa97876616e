#include "hdf5_file.h"
#include "input.h"
#include "owned.h"
#include "regrid.h"
#include "state.h"
#include "status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum miniapp_status check_array(const struct miniapp_input *input,
                                       const struct miniapp_field *field,
                                       const struct miniapp_destination *target)
{
    const struct miniapp_grid own = miniapp_input_grid(input);
    const struct slot *const slot = state_slot(target->state, target->name);
    if (!slot)
        return MINIAPP_USAGE;
    if (!same_shape(slot->field, field))
        return fail(MINIAPP_USAGE, "'%s' cannot take '%s': it has other axes or another type",
                    slot->name, field->name);
    if (!target->resample && memcmp(&own, &target->state->whole, sizeof(own)) != 0)
        return fail(MINIAPP_USAGE,
                    "%s: '%s' has another grid than the state, and is not to be "
                    "resampled",
                    input->path, field->name);
    return MINIAPP_DONE;
}

/* Whether a part of a cyclic ocean lacks its western and eastern ghosts: at the edges of the ocean
 * they repeat columns at the opposite edge, which the part does not have. Parts in between count as
 * lacking them, too, so that all parts do the same. */
static bool lacks_ghosts(const struct miniapp_input *input,
                         const struct miniapp_destination *target)
{
    return input->window.cyclic_x && target->state->grid.nx != target->state->whole.nx &&
           (target->resample || !input->window.has_ghosts);
}

static void mark_loaded_ghosts(const struct miniapp_input *input, const struct miniapp_field *field,
                               const struct miniapp_destination *target)
{
    signed char ghosts[MINIAPP_SIDES] = {0, 0, MINIAPP_HALO, MINIAPP_HALO};
    if (lacks_ghosts(input, target) && has_axis(field, MINIAPP_X))
        state_written(state_slot(target->state, target->name), ghosts);
}

/* Works plane by plane, so that little memory is needed besides the state's and the file's
 * field. */
static enum miniapp_status fill_state(const struct miniapp_input *input,
                                      const struct miniapp_field *field, const double *values,
                                      const struct miniapp_destination *target)
{
    const struct window to = window_of_state(target->state);
    struct regrid regrid;
    enum miniapp_status status = regrid_open(field, &input->window, &to, target->resample, &regrid);
    for (size_t plane = 0; plane < regrid.planes && !status; plane++)
        status =
            miniapp_state_set_part(target->state, target->name, plane * regrid.plane_elements,
                                   regrid.plane_elements, regrid_plane(&regrid, values, plane));
    regrid_close(&regrid);
    if (!status)
        mark_loaded_ghosts(input, field, target);
    return status;
}

/* Rows go on beyond the southern wall as they begin beside it, as in Veros: so the cosine of the
 * wall's latitude follows from cos(a - b) + cos(a + b) = 2 cos(a) cos(b) for the first point and
 * its faces, and for the first face and its points. Friction without slip reads it. */
static enum miniapp_status load_cosine(struct miniapp_input *input,
                                       const struct miniapp_destination *target, const double *cosu)
{
    const size_t y = MINIAPP_HALO - 1, y0 = target->state->y0;
    OWNED double *cost = NULL;
    if (y0 > y || input->window.whole.ny < 2 || !input->needed[FIELD_cost])
        return MINIAPP_DONE;
    TRY(read_field(input, FIELD_cost, &cost));
    const double wall = cost[0] * (cost[0] + cost[1]) / cosu[0] - cosu[0];
    return miniapp_state_set_part(target->state, target->name, y - y0, 1,
                                  &(double){fmin(fmax(wall, 0), 1)});
}

/* Loads what a field is on the southern wall: a file without ghosts has corners there in an
 * attribute. */
static enum miniapp_status load_wall(struct miniapp_input *input, const struct miniapp_field *field,
                                     const struct miniapp_destination *target, const double *values)
{
    const enum field_id id = field_id(field);
    bool found;
    CLOSED hid_t dataset = H5I_INVALID_HID;
    if (!input->is_there[id] || input->window.has_ghosts || target->resample)
        return MINIAPP_DONE;
    if (id == FIELD_cosu)
        return load_cosine(input, target, values);
    if (!field->has_wall)
        return MINIAPP_DONE;
    TRY(open_dataset(input->file, input->path, input->source[id], &dataset));
    TRY(read_wall(dataset, input->path, target->state, field, target->name, input->allow, &found));
    mark_loaded_ghosts(input, field, target);
    return MINIAPP_DONE;
}

static enum miniapp_precision narrowest(const struct miniapp_destination *targets, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (miniapp_state_precision(targets[i].state) == MINIAPP_FLOAT32)
            return MINIAPP_FLOAT32;
    return MINIAPP_FLOAT64;
}

/* Reads a field, or the record of it whose turn it is, into each target. */
static enum miniapp_status load_values(struct miniapp_input *input,
                                       const struct miniapp_field *field,
                                       const struct miniapp_destination *targets, size_t count)
{
    OWNED double *values = NULL;
    TRY(read_field(input, field_id(field), &values));
    TRY(check_still_same(input));
    for (size_t i = 0; i < count; i++) {
        TRY(fill_state(input, field, values, &targets[i]));
        TRY(load_wall(input, field, &targets[i], values));
    }
    return MINIAPP_DONE;
}

/* Reads all records of a field, and makes the field what it is at the states' time. */
static enum miniapp_status load_records(struct miniapp_input *input,
                                        const struct miniapp_field *field,
                                        const struct miniapp_destination *targets, size_t count)
{
    const enum field_id id = field_id(field);
    for (size_t i = 0; i < count; i++)
        TRY(state_force(targets[i].state, targets[i].name, input->records[id], input->period[id]));
    for (input->record = 0; input->record < input->records[id]; input->record++)
        for (size_t i = 0; i < count; i++) {
            char name[RECORD_NAME];
            const struct miniapp_destination record = {
                targets[i].state, record_name(targets[i].name, input->record, name),
                targets[i].resample};
            TRY(load_values(input, field, &record, 1));
        }
    for (size_t i = 0; i < count; i++)
        TRY(state_apply_forcing(targets[i].state));
    return MINIAPP_DONE;
}

enum miniapp_status miniapp_input_load(struct miniapp_input *input,
                                       const struct miniapp_field *field,
                                       const struct miniapp_destination *targets, size_t count)
{
    if (!input->needed[field_id(field)])
        return fail(MINIAPP_USAGE, "%s: dataset '%s' was not wanted when the file was opened",
                    input->path, field->name);
    for (size_t i = 0; i < count; i++)
        TRY(check_array(input, field, &targets[i]));
    move_window(input, window_for(input, targets, count));
    input->precision = narrowest(targets, count);
    TRY(check_still_same(input));
    for (size_t i = 0; i < count; i++)
        miniapp_state_set_cyclic(targets[i].state, input->window.cyclic_x);
    return (input->records[field_id(field)] ? load_records : load_values)(input, field, targets,
                                                                          count);
}

/* Sets a field that the table lacks, with the axes of one that it has. */
static enum miniapp_status set_to_zero(struct miniapp_state *state, const char *name,
                                       const struct miniapp_field *like)
{
    OWNED double *const zeros = calloc(miniapp_field_elements(like, &state->grid), sizeof(*zeros));
    TRY(allocated(zeros && state_added_slot(state, name, like), "'%s'", name));
    return miniapp_state_set(state, name, zeros);
}

/* Sets the flow that the pressure of the water's density makes in a step of momentum. */
static enum miniapp_status start_from_rest(struct miniapp_state *state)
{
    static const char *const calm = "surface_taux=no_wind, surface_tauy=no_wind";
    const struct miniapp_sequence *sequence;
    struct miniapp_plan *plan;
    TRY(set_to_zero(state, "no_wind", &fields[FIELD_surface_taux]));
    TRY(miniapp_sequence_find("ocean_at_rest", &sequence));
    TRY(miniapp_plan_create(state, sequence, calm, &plan));
    const enum miniapp_status status = miniapp_plan_advance(plan);
    state->steps = 0; /* it is no step of the ocean's */
    state->is_from_rest = true;
    miniapp_plan_free(plan);
    return status;
}

enum miniapp_status miniapp_state_make_flow(struct miniapp_state *state,
                                            const struct miniapp_input *input,
                                            const struct miniapp_sequence *sequence)
{
    if (input->is_at_rest && miniapp_sequence_carries(sequence, &fields[FIELD_u]) &&
        is_under_lid(state))
        return start_from_rest(state);
    if (!has_velocities(input))
        return MINIAPP_DONE;
    if (miniapp_sequence_reads(sequence, &fields[FIELD_w]) && !input->is_there[FIELD_w])
        TRY(miniapp_run(state, "vertical_velocity"));
    return has_psi(state, sequence) && !input->is_there[FIELD_psi] ? state_make_psi(state)
                                                                   : MINIAPP_DONE;
}

enum miniapp_status miniapp_state_load(struct miniapp_state *state, struct miniapp_input *input)
{
    if (!state || !input)
        return null_given();
    input->precision = miniapp_state_precision(state);
    TRY(miniapp_input_check(input));
    for (size_t id = 0; id < SETTINGS; id++)
        if (input->is_set[id])
            TRY(miniapp_setting_check(&settings[id], input->setting[id], input->precision,
                                      input->path, MINIAPP_INPUT));
    for (size_t id = 0; id < SETTINGS; id++)
        if (input->is_set[id])
            TRY(miniapp_state_set_setting(state, settings[id].name, input->setting[id]));
    TRY(miniapp_input_check_pairs(input, &state->settings));
    for (size_t id = 0; id <= miniapp_field_count(); id++) {
        const struct miniapp_destination own = {.state = state, .name = fields[id].name};
        if (input->wanted[id])
            TRY(miniapp_input_load(input, &fields[id], &own, 1));
    }
    return MINIAPP_DONE;
}
