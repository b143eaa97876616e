/* Inputs. */
#include "input.h"
#include "guard.h"
#include "hdf5_error.h"
#include "hdf5_file.h"
#include "range.h"
#include "regrid.h"
#include "state.h"
#include "status.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- settings and grid ---- */

/* Reads an attribute that must be 0 or `other`; `value` holds the default. */
static enum miniapp_status read_choice(const struct miniapp_input *input, const char *name,
                                       int other, bool *found, int *value)
{
    double number = *value;
    const enum miniapp_status status =
        read_attribute(input->file, input->path, name, found, &number);
    if (status)
        return status;
    if (number != 0 && number != other)
        return fail(MINIAPP_INPUT, "%s: attribute '%s' is %g, but must be 0 or %d", input->path,
                    name, number, other);
    *value = (int)number;
    return MINIAPP_DONE;
}

enum miniapp_status first_of(enum miniapp_status before, enum miniapp_status now)
{
    return before ? before : now;
}

bool goes_on(enum miniapp_status status)
{
    return !status || (status == MINIAPP_INPUT && !hdf5_has_refused());
}

static enum miniapp_status read_settings(struct miniapp_input *input)
{
    enum miniapp_status status = MINIAPP_DONE;
    for (size_t id = 0; id < SETTINGS && goes_on(status); id++)
        status = first_of(status, read_attribute(input->file, input->path, settings[id].name,
                                                 &input->is_set[id], &input->setting[id]));
    return status;
}

/* What the caller wants. */
static void list_wanted(struct miniapp_input *input, const struct miniapp_field *const *wanted,
                        size_t count)
{
    for (size_t i = 0; i < count; i++)
        input->wanted[field_id(wanted[i])] = input->needed[field_id(wanted[i])] = true;
}

/* A field that is absent needs what stands in for it. */
static void list_stand_ins(struct miniapp_input *input)
{
    for (size_t id = 1; id <= miniapp_field_count(); id++)
        if (input->needed[id] && fields[id].is_optional && !is_there(input, (enum field_id)id))
            input->needed[fields[id].stand_in] = true;
    input->needed[NO_FIELD] = false;
}

/* Opens the dataset of a field, and finds which of its dimensions are the field's axes. */
static enum miniapp_status open_field(struct miniapp_input *input, enum field_id id, hid_t *dataset,
                                      struct layout *layout)
{
    const struct miniapp_field *const field = &fields[id];
    const char *const name = input->name[id];
    enum miniapp_status status =
        open_dataset(input->file, input->path, name, &input->outside, dataset);
    if (status)
        return status;
    status = read_layout(*dataset, input->path, name, field, &input->scales, &input->time, layout);
    if (!status)
        status = check_shape(layout, input->path, name, field, &input->axes);
    if (!status)
        status = check_meaning(input, id, *dataset);
    if (status)
        H5Dclose(*dataset);
    else if (layout->time >= 0) {
        const hsize_t records = layout->length[layout->time];
        input->records = records > input->records ? records : input->records;
        input->record = layout->record > input->record ? layout->record : input->record;
    }
    return status;
}

/* Outputs get the coordinates of the first scale that is found for each axis. */
static void keep_scales(struct miniapp_input *input, enum field_id id, const struct layout *layout)
{
    for (int i = 0; i < miniapp_field_rank(&fields[id]); i++) {
        const enum miniapp_axis axis = fields[id].axes[i];
        input->own_scale[id][axis] = layout->scale[i];
        input->dimension[id][axis] = 1 + layout->place[i];
        if (!input->scale[axis])
            input->scale[axis] = layout->scale[i];
    }
    if (layout->time >= 0)
        input->record_of[id] =
            (struct record){layout->time_scale, layout->record, layout->length[layout->time]};
}

/* Limits what is read of a dataset to the window; returns the bytes that this takes. */
static double narrow_to_window(struct miniapp_input *input, enum field_id id, hid_t dataset,
                               struct layout *layout)
{
    narrow_layout(layout, &fields[id], MINIAPP_X, input->x0, input->grid.nx);
    narrow_layout(layout, &fields[id], MINIAPP_Y, input->y0, input->grid.ny);
    const double bytes = bytes_to_read(dataset, &fields[id], layout);
    input->passing_bytes = fmax(input->passing_bytes, bytes);
    return bytes;
}

/* What takes fewer bytes is read without a look at how much memory is left: looking would take
 * longer. */
#define SMALL 1e6

/* Only one dataset at a time is held as double, with the memory that reading it takes. */
static enum miniapp_status check_memory(struct miniapp_input *input, enum field_id id, double bytes)
{
    char lack[MINIAPP_LACK];
    if (bytes < SMALL || miniapp_host_has(bytes, lack))
        return MINIAPP_DONE;
    if (input->is_too_large) /* this is reported once */
        return MINIAPP_INPUT;
    input->is_too_large = true;
    return fail(MINIAPP_INPUT, "%s: dataset '%s' is too large for memory: it %s", input->path,
                input->name[id], lack);
}

/* An axis that no dataset has so far gets the least length. */
static void set_grid(struct miniapp_input *input)
{
    const size_t least = input->has_ghosts ? MINIAPP_MIN_CELLS : 1;
    for (int axis = MINIAPP_X; axis <= MINIAPP_Z; axis++)
        if (!input->axes.said_by[axis])
            input->axes.length[axis] = axis == MINIAPP_Z ? 1 : least;
    input->whole =
        (struct miniapp_grid){input->axes.length[MINIAPP_X], input->axes.length[MINIAPP_Y],
                              input->axes.length[MINIAPP_Z]};
    const struct window own = own_window(input);
    move_window(input, &own);
}

/* Opens a dataset that will be read, for its lengths. */
static enum miniapp_status look_at_field(struct miniapp_input *input, enum field_id id)
{
    hid_t dataset;
    struct layout layout;
    enum miniapp_status status = open_field(input, id, &dataset, &layout);
    if (status)
        return status;
    keep_scales(input, id, &layout);
    set_grid(input);
    status = check_memory(input, id, narrow_to_window(input, id, dataset, &layout));
    H5Dclose(dataset);
    return status;
}

/* The lengths of x, y and z, from every dataset that will be read. */
static enum miniapp_status read_grid(struct miniapp_input *input)
{
    enum miniapp_status status = MINIAPP_DONE;
    for (enum field_id id = NO_FIELD + 1; id <= miniapp_field_count() && goes_on(status); id++)
        if (input->needed[id] && is_there(input, id)) {
            const enum miniapp_status found = look_at_field(input, id);
            input->is_bad[id] = found != MINIAPP_DONE;
            status = first_of(status, found);
        }
    set_grid(input);
    return status;
}

static enum miniapp_status check_room_for_ghosts(const struct miniapp_input *input)
{
    const size_t least = input->has_ghosts ? MINIAPP_MIN_CELLS : 1;
    for (enum miniapp_axis axis = MINIAPP_X; axis <= MINIAPP_Y; axis++)
        if (input->axes.length[axis] < least)
            return fail(MINIAPP_INPUT,
                        "%s: %zu cells along %s are too few: %d ghost cells on each side and one "
                        "between make %zu",
                        input->path, input->axes.length[axis], miniapp_axis_name(axis),
                        MINIAPP_HALO, least);
    return MINIAPP_DONE;
}

/* ---- values ---- */

const char *place_in_file(const struct miniapp_input *input, enum field_id id, size_t element)
{
    const struct miniapp_grid *const grid = &input->grid;
    size_t block = 1; /* elements of a level */
    bool has_levels = false;
    for (const enum miniapp_axis *axis = fields[id].axes; *axis; axis++) {
        block = *axis == MINIAPP_Z ? 1 : block * miniapp_axis_length(*axis, grid);
        has_levels |= *axis == MINIAPP_Z;
    }
    const size_t level = element / block % grid->nz;
    if (input->is_surface_first && has_levels)
        element += (grid->nz - 1 - level) * block - level * block;
    return element_name(name_in_file(input, id), &fields[id], &input->whole,
                        element_in_file(input, &fields[id], element));
}

/* Masks and indices have to be whole numbers in their ranges, with no index above the surface,
 * because kernels address memory by them. */
static enum miniapp_status check_whole(const struct miniapp_input *input, enum field_id id,
                                       const double *values, size_t elements)
{
    const struct miniapp_field *const field = &fields[id];
    const double most =
        field->counts ? (double)miniapp_axis_length(field->counts, &input->grid) : field->valid_max;
    char range[RANGE_TEXT];
    for (size_t i = 0; i < elements; i++) {
        if (values[i] != floor(values[i]) || !isfinite(values[i]))
            return fail(MINIAPP_INPUT, "%s: %s is %g, but must be whole", input->path,
                        place_in_file(input, id, i), values[i]);
        if (values[i] < field->valid_min || values[i] > most)
            return fail(MINIAPP_INPUT, "%s: %s is %g, but must be %s", input->path,
                        place_in_file(input, id, i), values[i],
                        range_text(field->valid_min, most, range));
    }
    return MINIAPP_DONE;
}

/* Fills a field that is absent with what stands in for it. */
static enum miniapp_status stand_in(struct miniapp_input *input, enum field_id id, double *values,
                                    size_t elements)
{
    const struct miniapp_field *const field = &fields[id];
    double *source = NULL;
    enum miniapp_status status = MINIAPP_DONE;
    if (field->stand_in && !field->is_sampled)
        status = read_field(input, field->stand_in, &source);
    for (size_t i = 0; i < elements && !status; i++)
        values[i] = field->is_sampled ? sample_of(element_in_file(input, field, i))
                    : source          ? field->stand_in_factor * source[i]
                                      : 0;
    free(source);
    return status;
}

/* Allocates and makes a field that the file lacks. */
static enum miniapp_status make_field(struct miniapp_input *input, enum field_id id,
                                      size_t elements, double **values)
{
    *values = malloc(elements * sizeof(**values));
    if (!*values)
        return fail(MINIAPP_DEVICE, "out of memory for '%s'", fields[id].name);
    return fields[id].is_made ? make_mask(input, id, *values)
                              : stand_in(input, id, *values, elements);
}

static void convert_units(const struct conversion *conversion, size_t elements, double *values)
{
    for (size_t i = 0; i < elements && conversion->from[0]; i++)
        values[i] = conversion->factor * values[i] + conversion->offset;
}

enum miniapp_status read_raw(struct miniapp_input *input, enum field_id id, double **values)
{
    const struct miniapp_field *const field = &fields[id];
    hid_t dataset;
    struct layout layout;
    *values = NULL;
    enum miniapp_status status = open_field(input, id, &dataset, &layout);
    if (status)
        return status;
    input->is_read[id] = true;
    narrow_to_window(input, id, dataset, &layout);
    status = read_values(dataset, input->path, input->name[id], field, &layout, &input->outside,
                         values, &input->treatment[id]);
    H5Dclose(dataset);
    if (!status)
        convert_units(&input->conversion[id], miniapp_field_elements(field, &input->grid), *values);
    if (!status && input->is_surface_first)
        turn_levels(field, &input->grid, *values);
    return status;
}

enum miniapp_status read_field(struct miniapp_input *input, enum field_id id, double **values)
{
    const struct miniapp_field *const field = &fields[id];
    const size_t elements = miniapp_field_elements(field, &input->grid);
    *values = NULL;
    if (input->is_checking && input->is_bad[id])
        return MINIAPP_INPUT;
    enum miniapp_status status =
        is_there(input, id) ? read_raw(input, id, values) : make_field(input, id, elements, values);
    if (!status && field->type == MINIAPP_REAL)
        status = settle_land(input, id, *values, elements);
    else if (!status)
        status = check_whole(input, id, *values, elements);
    if (!status && is_there(input, id))
        status = check_agreement(input, id, *values);
    if (status) {
        input->is_bad[id] = true;
        free(*values);
        *values = NULL;
    }
    return status;
}

/* ---- the input ---- */

static enum miniapp_status read_attributes(struct miniapp_input *input, bool *says_halo)
{
    int halo = MINIAPP_HALO, cyclic = 0;
    bool says_cyclic;
    enum miniapp_status status = read_choice(input, "halo", MINIAPP_HALO, says_halo, &halo);
    if (goes_on(status))
        status = first_of(status, read_choice(input, "cyclic_x", 1, &says_cyclic, &cyclic));
    input->has_ghosts = halo == MINIAPP_HALO;
    input->is_cyclic = cyclic == 1;
    snprintf(input->reason, sizeof(input->reason), "attribute halo is %d", halo);
    return goes_on(status) ? first_of(status, read_settings(input)) : status;
}

/* Whether all datasets agree on the grid, and on its levels. */
static bool is_grid_known(const struct miniapp_input *input)
{
    bool is_known = !input->is_bad[FIELD_zt] && !input->is_bad[FIELD_zw] && !input->is_too_large;
    for (int axis = MINIAPP_X; axis <= MINIAPP_Z; axis++)
        is_known &= input->axes.said_by[axis] && !input->axes.is_disputed[axis];
    return is_known;
}

/* If all datasets have one record, no other can be chosen. A dataset with one record among others
 * that have more does not change in time. */
static enum miniapp_status check_time(const struct miniapp_input *input)
{
    const long long index = input->time.index;
    if (!input->time.is_chosen || input->records > 1 || index == 0 || index == -1)
        return MINIAPP_DONE;
    if (input->records == 1)
        return fail(MINIAPP_INPUT, "%s: there is one record in time, but --time chooses %lld",
                    input->path, index);
    return MINIAPP_DONE;
}

static enum miniapp_status read_header(struct miniapp_input *input,
                                       const struct miniapp_field *const *wanted, size_t count,
                                       const struct miniapp_input_options *options)
{
    bool says_halo;
    const enum miniapp_status attributes = read_attributes(input, &says_halo);
    read_scales(input->file, &input->scales);
    list_wanted(input, wanted, count);
    enum miniapp_status status = goes_on(attributes) ? find_names(input, options) : attributes;
    if (status)
        return status;
    list_stand_ins(input);
    status = first_of(attributes, read_grid(input));
    if (!goes_on(status))
        return status;
    bool is_known = !attributes && says_halo && is_grid_known(input);
    if (!status || is_known) {
        const enum miniapp_status direction = find_direction(input);
        is_known &= !direction;
        status = first_of(status, direction);
    }
    if (!status && input->strips > 1)
        status = find_telling(input);
    is_known &= input->strips == 1 || input->is_land_known;
    if (goes_on(status))
        status = first_of(status, check_missing(input, status == MINIAPP_DONE));
    is_known &= !lacks_made(input); /* without masks, nothing tells what lies on water */
    if (!status && !says_halo)
        status = find_ghosts(input);
    if (!status || is_known) {
        const enum miniapp_status axes = check_axes(input);
        is_known &= !axes;
        status = first_of(status, axes);
    }
    describe_grid(input);
    if (!status)
        status = check_time(input);
    if (goes_on(status) && !(input->allow & MINIAPP_ALLOW_INVALID))
        status = first_of(status, check_times(input));
    if (!status || (is_known && goes_on(status))) {
        const enum miniapp_status room = check_room_for_ghosts(input);
        if (status && !room)
            check_fields(input); /* says what else is wrong */
        status = first_of(status, room);
    }
    return status;
}

enum miniapp_status miniapp_input_open(const char *path, const struct miniapp_field *const *wanted,
                                       size_t count, const struct miniapp_input_options *options,
                                       struct miniapp_input **opened)
{
    struct miniapp_input *const input = calloc(1, sizeof(*input));
    *opened = NULL;
    if (!input || !(input->path = strdup(path))) {
        free(input);
        return fail(MINIAPP_DEVICE, "out of memory for an input");
    }
    input->strips = 1;
    if (options) {
        input->allow = options->allow;
        input->time = options->time;
        input->strip = options->strip;
        input->strips = options->strips > 0 ? options->strips : 1;
    }
    guard_start(path);
    enum miniapp_status status = look_at(path, &input->found);
    if (!status)
        status = open_file(path, &input->file);
    if (!status &&
        !outside_open(input->path, input->allow & MINIAPP_ALLOW_EXTERNAL, &input->outside))
        status = fail(MINIAPP_DEVICE, "out of memory for an input");
    if (!status)
        status = read_header(input, wanted, count, options);
    guard_end();
    if (status)
        miniapp_input_close(input);
    else
        *opened = input;
    if (!status && input->time.is_chosen && input->records == 0)
        warn("%s: --time chooses a record, but nothing that is read has a time axis", path);
    return status;
}

/* A file that is removed can still be read while it is open. */
static enum miniapp_status check_still_same(const struct miniapp_input *input)
{
    return access(input->path, F_OK) == 0 ? check_unchanged(input->path, &input->found)
                                          : MINIAPP_DONE;
}

enum miniapp_status miniapp_input_check(struct miniapp_input *input)
{
    const struct window own = own_window(input);
    if (input->was_refused) /* what is wrong was reported already */
        return fail(MINIAPP_INPUT, "%s: its fields were checked, and cannot be used", input->path);
    move_window(input, &own);
    guard_start(input->path);
    enum miniapp_status status = check_still_same(input);
    if (!status)
        status = check_fields(input);
    if (!status)
        status = check_water(input);
    if (!status)
        status = check_still_same(input);
    guard_end();
    input->was_refused = status == MINIAPP_INPUT;
    return status;
}

void miniapp_input_close(struct miniapp_input *input)
{
    if (!input)
        return;
    if (input->file > 0)
        H5Fclose(input->file);
    drop_masks(input);
    for (size_t id = 0; id <= miniapp_field_count(); id++)
        free(input->name[id]);
    release_scales(&input->scales);
    outside_close(&input->outside);
    free(input->path);
    free(input);
}

struct miniapp_grid miniapp_input_file_grid(const struct miniapp_input *input)
{
    return input->whole;
}

struct miniapp_grid miniapp_input_grid(const struct miniapp_input *input)
{
    return input->has_ghosts ? input->whole : miniapp_grid_with_ghosts(&input->whole);
}

bool miniapp_input_has_ghosts(const struct miniapp_input *input)
{
    return input->has_ghosts;
}

bool miniapp_input_is_cyclic(const struct miniapp_input *input)
{
    return input->is_cyclic;
}

bool miniapp_input_is_surface_first(const struct miniapp_input *input)
{
    return input->is_surface_first;
}

int miniapp_input_dimension(const struct miniapp_input *input, const struct miniapp_field *field,
                            enum miniapp_axis axis)
{
    return input->dimension[field_id(field)][axis] - 1;
}

double miniapp_input_passing_bytes(const struct miniapp_input *input)
{
    double most = input->passing_bytes;
    for (size_t id = 1; id <= miniapp_field_count(); id++)
        if (input->needed[id])
            most = fmax(most, (double)sizeof(double) *
                                  (double)miniapp_field_elements(&fields[id], &input->grid));
    return most;
}

const char *miniapp_input_external_file(const struct miniapp_input *input, size_t place)
{
    return place < input->outside.count ? input->outside.files[place] : NULL;
}

void miniapp_input_restore_order(const struct miniapp_input *input,
                                 const struct miniapp_field *field, const struct miniapp_grid *grid,
                                 double *values)
{
    if (input->is_surface_first)
        turn_levels(field, grid, values);
}

bool miniapp_input_setting(const struct miniapp_input *input, const struct miniapp_setting *setting,
                           double *value)
{
    *value = input->setting[setting - settings];
    return input->is_set[setting - settings];
}

/* ---- into states ---- */

static enum miniapp_status check_target(const struct miniapp_input *input,
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
    return input->is_cyclic && target->state->grid.nx != target->state->whole.nx &&
           (target->resample || !input->has_ghosts);
}

static void mark_ghosts(const struct miniapp_input *input, const struct miniapp_field *field,
                        const struct miniapp_destination *target)
{
    signed char ghosts[MINIAPP_SIDES] = {0, 0, MINIAPP_HALO, MINIAPP_HALO};
    if (lacks_ghosts(input, target) && has_axis(field, MINIAPP_X))
        state_written(state_slot(target->state, target->name), ghosts);
}

/* Works plane by plane, so that little memory is needed besides the state's and the file's
 * field. */
static enum miniapp_status fill(const struct miniapp_input *input,
                                const struct miniapp_field *field, const double *values,
                                const struct miniapp_destination *target)
{
    const struct file_grid from = file_grid_of(input);
    const struct window to = window_of_state(target->state);
    struct regrid regrid;
    enum miniapp_status status = regrid_open(field, &from, &to, target->resample, &regrid);
    for (size_t plane = 0; plane < regrid.planes && !status; plane++)
        status =
            miniapp_state_set_part(target->state, target->name, plane * regrid.plane_elements,
                                   regrid.plane_elements, regrid_plane(&regrid, values, plane));
    regrid_close(&regrid);
    if (!status)
        mark_ghosts(input, field, target);
    return status;
}

static enum miniapp_precision narrowest(const struct miniapp_destination *targets, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (miniapp_state_precision(targets[i].state) == MINIAPP_FLOAT32)
            return MINIAPP_FLOAT32;
    return MINIAPP_FLOAT64;
}

enum miniapp_status miniapp_input_load(struct miniapp_input *input,
                                       const struct miniapp_field *field,
                                       const struct miniapp_destination *targets, size_t count)
{
    double *values = NULL;
    enum miniapp_status status = MINIAPP_DONE;
    if (!input->needed[field_id(field)])
        return fail(MINIAPP_USAGE, "%s: dataset '%s' was not wanted when the file was opened",
                    input->path, field->name);
    for (size_t i = 0; i < count && !status; i++)
        status = check_target(input, field, &targets[i]);
    if (status)
        return status;
    const struct window window = window_for(input, targets, count);
    move_window(input, &window);
    input->precision = narrowest(targets, count);
    guard_start(input->path);
    status = check_still_same(input);
    if (!status)
        status = read_field(input, field_id(field), &values);
    if (!status)
        status = check_still_same(input);
    guard_end();
    for (size_t i = 0; i < count && !status; i++) {
        miniapp_state_set_cyclic(targets[i].state, input->is_cyclic);
        status = fill(input, field, values, &targets[i]);
    }
    free(values);
    return status;
}

enum miniapp_status miniapp_state_load(struct miniapp_state *state, struct miniapp_input *input)
{
    input->precision = miniapp_state_precision(state);
    enum miniapp_status status = miniapp_input_check(input);
    for (size_t id = 0; id < SETTINGS && !status; id++)
        if (input->is_set[id])
            status = miniapp_setting_check(&settings[id], input->setting[id], input->precision,
                                           input->path, MINIAPP_INPUT);
    for (size_t id = 0; id < SETTINGS && !status; id++)
        if (input->is_set[id])
            status = miniapp_state_set_setting(state, settings[id].name, input->setting[id]);
    for (size_t id = 0; id <= miniapp_field_count() && !status; id++) {
        const struct miniapp_destination own = {.state = state, .name = fields[id].name};
        if (input->wanted[id])
            status = miniapp_input_load(input, &fields[id], &own, 1);
    }
    return status;
}
