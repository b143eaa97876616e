/* Opening and checking inputs: format.h says what they hold. */
#include "input.h"
#include "date.h"
#include "format.h"
#include "hdf5_file.h"
#include "owned.h"
#include "status.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file that HDF5 cannot read may be damaged in other places, too, where HDF5 would crash. */
bool goes_on(enum miniapp_status status)
{
    return !status || (status == MINIAPP_INPUT && !hdf5_has_refused());
}

enum miniapp_status check_still_same(const struct miniapp_input *input)
{
    return access(input->path, F_OK) == 0 ? check_unchanged(input->path, &input->found)
                                          : MINIAPP_DONE;
}

/* ---- options ---- */

struct miniapp_input_options *miniapp_input_options_create(void)
{
    return calloc(1, sizeof(struct miniapp_input_options));
}

void miniapp_input_options_free(struct miniapp_input_options *options)
{
    free(options);
}

void miniapp_input_options_allow(struct miniapp_input_options *options, int allow)
{
    if (options)
        options->allow |= allow;
}

void miniapp_input_options_share(struct miniapp_input_options *options, int number, int of)
{
    options->strip = number;
    options->strips = of;
}

void miniapp_input_options_start_as(struct miniapp_input_options *options,
                                    const struct miniapp_field *tracer, const char *dataset)
{
    options->source[field_id(tracer)] = dataset;
}

/* ---- attributes ---- */

/* An attribute that must be 0 or `other`; `value` holds the default. */
static enum miniapp_status read_choice(const struct miniapp_input *input, const char *name,
                                       int other, bool *found, int *value)
{
    double number = *value;
    TRY(read_attribute(input->file, input->path, name, found, &number));
    if (number != 0 && number != other)
        return fail(MINIAPP_INPUT, "%s: attribute '%s' is %g, but must be 0 or %d", input->path,
                    name, number, other);
    *value = (int)number;
    return MINIAPP_DONE;
}

/* Snapshots count from that date. */
static enum miniapp_status check_date(const struct miniapp_input *input)
{
    char origin[TEXT_ATTRIBUTE], calendar[TEXT_ATTRIBUTE];
    if (find_text(input->file, "calendar", TEXT_ATTRIBUTE, calendar) == 0 || !is_calendar(calendar))
        return fail(MINIAPP_INPUT,
                    "%s: attribute 'calendar' is '%s', but must be one of CF's, such as standard, "
                    "noleap or 360_day",
                    input->path, calendar);
    if (find_text(input->file, "time_origin", TEXT_ATTRIBUTE, origin) == 0 ||
        (origin[0] && !is_date(origin, calendar)))
        return fail(MINIAPP_INPUT,
                    "%s: attribute 'time_origin' is '%s', but must be a date of the calendar, such "
                    "as 2000-01-31 or 2000-01-31 12:00:00",
                    input->path, origin);
    return MINIAPP_DONE;
}

/* A file that does not say whether it has ghosts is most likely none of ours: nothing else is
 * reported of it. */
static enum miniapp_status read_attributes(struct miniapp_input *input, bool *says_halo)
{
    int halo = 0, cyclic = 0;
    bool says_cyclic;
    enum miniapp_status status = read_choice(input, "halo", MINIAPP_HALO, says_halo, &halo);
    if (!status && !*says_halo)
        return fail(
            MINIAPP_INPUT,
            "%s: attribute 'halo' is missing, which says whether the outer cells are ghosts "
            "(0: no, 2: two rings)" TURN_INTO_INPUT,
            input->path, input->path);
    if (goes_on(status))
        status = first_of(status, read_choice(input, "cyclic_x", 1, &says_cyclic, &cyclic));
    input->window.has_ghosts = halo == MINIAPP_HALO;
    input->window.cyclic_x = cyclic == 1;
    if (goes_on(status))
        status = first_of(status, check_date(input));
    for (size_t id = 0; id < SETTINGS && goes_on(status); id++)
        status = first_of(status, read_attribute(input->file, input->path, settings[id].name,
                                                 &input->is_set[id], &input->setting[id]));
    return status;
}

/* ---- datasets ---- */

static bool has_flow(const struct miniapp_input *input)
{
    return input->is_there[FIELD_u] || input->is_there[FIELD_v] || input->is_there[FIELD_psi];
}

/* Lists the fields that the caller wants, and those that stand in for absent ones. */
static void list_needed(struct miniapp_input *input, const struct miniapp_field *const *wanted,
                        size_t count)
{
    for (size_t i = 0; i < count; i++)
        input->wanted[field_id(wanted[i])] = input->needed[field_id(wanted[i])] = true;
    for (size_t id = 1; id <= miniapp_field_count(); id++) {
        if (!input->source[id])
            input->source[id] = fields[id].name;
        input->is_there[id] = has_dataset(input->file, input->source[id]);
    }
    for (size_t id = 1; id <= miniapp_field_count(); id++)
        if (input->needed[id] && !input->is_there[id])
            input->needed[fields[id].stand_in] = true;
    for (size_t id = 1; id <= miniapp_field_count(); id++)
        if (input->needed[id] && input->is_there[id])
            input->is_asked[id] = input->is_asked[fields[id].wet] = true;
    input->needed[NO_FIELD] = input->is_asked[NO_FIELD] = false;
    input->is_at_rest = input->needed[FIELD_du_taum1] && !has_flow(input);
}

/* Keeps the first scale that is found for each axis: outputs get its coordinates. */
static void find_scales(struct miniapp_input *input, enum field_id id, hid_t dataset)
{
    if (H5Aexists(dataset, "DIMENSION_LIST") <= 0)
        return;
    for (int i = 0; i < miniapp_field_rank(&fields[id]); i++) {
        char *const name = input->scale[fields[id].axes[i]];
        if (!name[0])
            find_scale(input->file, input->source[id], i + (input->records[id] > 0), name);
    }
}

static enum miniapp_status check_units(const struct miniapp_input *input, enum field_id id,
                                       hid_t dataset)
{
    const char *const expected = fields[id].units, *const name = input->source[id];
    char units[TEXT_ATTRIBUTE];
    if (find_text(dataset, "units", sizeof(units), units) <= 0)
        return fail(MINIAPP_INPUT, "%s: attribute 'units' of dataset '%s' must be a single text",
                    input->path, name);
    if (!units[0] || !expected[0] || strcmp(units, expected) == 0 ||
        (fields[id].at_surface.units && strcmp(units, fields[id].at_surface.units) == 0))
        return MINIAPP_DONE;
    return fail(MINIAPP_INPUT, "%s: dataset '%s' is in '%s', but must be in '%s'" TURN_INTO_INPUT,
                input->path, name, units, expected, input->path);
}

static size_t *length_along(struct miniapp_grid *grid, enum miniapp_axis axis)
{
    return axis == MINIAPP_X ? &grid->nx : axis == MINIAPP_Y ? &grid->ny : &grid->nz;
}

/* Compares the length of an axis with that of other datasets, or notes it. If two differ, either
 * may be wrong, so this is reported once. */
static enum miniapp_status agree_on_length(struct miniapp_input *input, const char *name,
                                           enum miniapp_axis axis, hsize_t length)
{
    const bool is_fixed = axis > MINIAPP_Z; /* the sides of a triad */
    const size_t known = miniapp_axis_length(axis, &input->window.whole);
    const size_t least = is_fixed ? known : 1, most = is_fixed ? known : INT32_MAX;
    if (length >= least && length <= most && !is_fixed && !input->said_by[axis]) {
        *length_along(&input->window.whole, axis) = (size_t)length;
        input->said_by[axis] = name;
        return MINIAPP_DONE;
    }
    if (length >= least && length <= most && length == known)
        return MINIAPP_DONE;
    if (input->is_disputed[axis])
        return MINIAPP_INPUT;
    input->is_disputed[axis] = true;
    if (length < least || length > most) /* GPU code counts no farther */
        return fail(
            MINIAPP_INPUT, "%s: dataset '%s' has %llu cells along %s, but must have %zu to %zu",
            input->path, name, (unsigned long long)length, miniapp_axis_name(axis), least, most);
    return fail(MINIAPP_INPUT,
                "%s: dataset '%s' has %llu cells along %s, but '%s' has %zu (the order of axes is "
                "z, y, x)",
                input->path, name, (unsigned long long)length, miniapp_axis_name(axis),
                input->said_by[axis], known);
}

static enum miniapp_status agree_on_lengths(struct miniapp_input *input, enum field_id id,
                                            const hsize_t *length)
{
    for (int i = 0; i < miniapp_field_rank(&fields[id]); i++)
        TRY(agree_on_length(input, input->source[id], fields[id].axes[i], length[i]));
    return MINIAPP_DONE;
}

/* A dataset of fewer bytes is read without a look at how much memory is left. */
#define SMALL 1e6

/* Only one field at a time is held as double, with the chunk that it is read from. */
static enum miniapp_status check_memory(struct miniapp_input *input, enum field_id id,
                                        hid_t dataset, const hsize_t *length)
{
    char lack[MINIAPP_LACK];
    double bytes = sizeof(double);
    for (int i = 0; i < miniapp_field_rank(&fields[id]); i++)
        bytes *= (double)length[i] / (fields[id].axes[i] == MINIAPP_Y ? input->strips : 1);
    bytes += bytes_of_chunk(dataset);
    input->passing_bytes = fmax(input->passing_bytes, bytes);
    if (bytes < SMALL || miniapp_host_has(bytes, lack))
        return MINIAPP_DONE;
    if (input->is_too_large)
        return MINIAPP_INPUT;
    input->is_too_large = true;
    return fail(MINIAPP_INPUT, "%s: dataset '%s' is too large for memory: it %s", input->path,
                input->source[id], lack);
}

static enum miniapp_status read_period(struct miniapp_input *input, enum field_id id, hid_t dataset)
{
    double *const period = &input->period[id];
    bool found;
    TRY(read_attribute(dataset, input->path, "period", &found, period));
    if (!(*period > 0 && *period <= 1e12))
        return fail(MINIAPP_INPUT,
                    "%s: attribute 'period' of dataset '%s' is %g, but must be above 0, to 1e+12",
                    input->path, input->source[id], *period);
    return MINIAPP_DONE;
}

static enum miniapp_status look_at_dataset(struct miniapp_input *input, enum field_id id)
{
    const char *const name = input->source[id];
    CLOSED hid_t dataset = H5I_INVALID_HID;
    hsize_t length[MINIAPP_MAX_RANK];
    TRY(open_dataset(input->file, input->path, name, &dataset));
    TRY(read_lengths(dataset, input->path, name, &fields[id], length, &input->records[id]));
    if (input->records[id] > 0)
        TRY(read_period(input, id, dataset));
    TRY(check_units(input, id, dataset));
    TRY(agree_on_lengths(input, id, length));
    TRY(check_memory(input, id, dataset, length));
    TRY(check_written(dataset, input->path, name));
    find_scales(input, id, dataset);
    return MINIAPP_DONE;
}

/* Checks each of these fields that is there by itself, whatever is wrong with others. */
static enum miniapp_status check_each(struct miniapp_input *input, const bool *chosen,
                                      enum miniapp_status (*check)(struct miniapp_input *,
                                                                   enum field_id))
{
    enum miniapp_status status = MINIAPP_DONE;
    for (enum field_id id = NO_FIELD + 1; id <= miniapp_field_count() && goes_on(status); id++)
        if (chosen[id] && input->is_there[id] && !input->is_bad[id]) {
            const enum miniapp_status found = check(input, id);
            input->is_bad[id] = found != MINIAPP_DONE;
            status = first_of(status, found);
        }
    return status;
}

/* ---- what is absent ---- */

#define ABSENT "%s: dataset%s %s %s missing, which the chosen kernels read"

/* Reports in one line all datasets that are absent but needed, whatever the settings. */
static enum miniapp_status check_absent(const struct miniapp_input *input)
{
    char text[1024] = "", near[64];
    size_t count = 0;
    bool may_rest = input->is_there[FIELD_coriolis_t] && !has_flow(input);
    for (enum field_id id = NO_FIELD + 1; id <= miniapp_field_count(); id++) {
        if (!input->needed[id] || input->is_there[id] || fields[id].is_optional ||
            fields[id].needed_by[0] || (fields[id].may_rest && input->is_at_rest))
            continue;
        count++;
        may_rest &= fields[id].may_rest;
        const char *const closest = miniapp_input_closest(input, &fields[id], near, sizeof(near));
        append(text, sizeof(text), ", ", "'%.40s'%s%s%s", input->source[id],
               closest ? " (the closest name in the file is '" : "", closest ? closest : "",
               closest ? "')" : "");
    }
    const char *const s = count > 1 ? "s" : "", *const are = count > 1 ? "are" : "is";
    if (count == 0)
        return MINIAPP_DONE;
    if (may_rest)
        return fail(MINIAPP_INPUT, ABSENT START_FROM_REST, input->path, s, text, are);
    return fail(MINIAPP_INPUT, ABSENT ADD_TO_INPUT, input->path, s, text, are, input->path);
}

/* ---- the grid ---- */

static enum miniapp_status set_grid(struct miniapp_input *input)
{
    const size_t least = input->window.has_ghosts ? MINIAPP_MIN_CELLS : 1;
    for (enum miniapp_axis axis = MINIAPP_X; axis <= MINIAPP_Z; axis++) {
        size_t *const length = length_along(&input->window.whole, axis);
        const size_t own_least = axis == MINIAPP_Z ? 1 : least;
        if (!input->said_by[axis]) /* no dataset has the axis */
            *length = own_least;
        if (*length < own_least)
            return fail(MINIAPP_INPUT,
                        "%s: %zu cells along %s are too few, since at least %zu are needed",
                        input->path, *length, miniapp_axis_name(axis), own_least);
    }
    move_window(input, own_window(input));
    snprintf(input->grid_text, sizeof(input->grid_text), "%zu x %zu x %zu points, %s%s",
             input->window.whole.nx, input->window.whole.ny, input->window.whole.nz,
             input->window.has_ghosts ? "two ghosts on each side" : "no ghosts",
             input->window.cyclic_x ? ", cyclic in x" : "");
    return MINIAPP_DONE;
}

/* ---- checking ---- */

static enum miniapp_status check_record(struct miniapp_input *input, enum field_id id)
{
    OWNED double *values = NULL;
    TRY(read_field(input, id, &values));
    return input->is_there[id] && !(input->allow & MINIAPP_ALLOW_INVALID)
               ? check_ghosts(input, id, values)
               : MINIAPP_DONE;
}

static enum miniapp_status check_field(struct miniapp_input *input, enum field_id id)
{
    enum miniapp_status status = MINIAPP_DONE;
    input->record = 0;
    do
        status = check_record(input, id);
    while (!status && ++input->record < input->records[id]);
    return status;
}

static enum miniapp_status check_fields(struct miniapp_input *input)
{
    enum miniapp_status status = check_each(input, input->needed, check_field);
    if (goes_on(status) && !(input->allow & MINIAPP_ALLOW_INVALID)) {
        status = first_of(status, check_levels(input));
        status = first_of(status, check_masks(input));
    }
    return status;
}

/* An ocean that is all land is legal, as a part of a larger one may be, but seldom meant. A process
 * that checks a part of the rows cannot tell. */
static enum miniapp_status look_for_water(struct miniapp_input *input)
{
    TRY(look_at_water(input, &input->seen));
    if (input->seen.cells == 0 && input->strips == 1 && !(input->allow & MINIAPP_ALLOW_INVALID))
        warn("%s: all of the ocean is land", input->path);
    return MINIAPP_DONE;
}

enum miniapp_status miniapp_input_check(struct miniapp_input *input)
{
    if (input->was_refused) /* what is wrong was reported already */
        return fail(MINIAPP_INPUT, "%s: its fields were checked, and cannot be used", input->path);
    move_window(input, own_window(input));
    enum miniapp_status status = check_still_same(input);
    if (!status)
        status = check_fields(input);
    if (!status)
        status = look_for_water(input);
    if (!status)
        status = check_still_same(input);
    input->was_refused = status == MINIAPP_INPUT;
    return status;
}

/* ---- opening ---- */

static enum miniapp_status read_header(struct miniapp_input *input,
                                       const struct miniapp_field *const *wanted, size_t count)
{
    bool says_halo;
    enum miniapp_status status = read_attributes(input, &says_halo);
    if (!goes_on(status) || !says_halo)
        return status;
    const bool are_attributes_known = !status;
    list_needed(input, wanted, count);
    status = first_of(status, check_each(input, input->is_asked, look_at_dataset));
    if (goes_on(status))
        status = first_of(status, check_absent(input));
    if (goes_on(status) && are_attributes_known) {
        const enum miniapp_status grid = set_grid(input);
        if (status && !grid)
            check_fields(input); /* reports what else is wrong */
        status = first_of(status, grid);
    }
    return status;
}

enum miniapp_status miniapp_input_open(const char *path, const struct miniapp_field *const *wanted,
                                       size_t count, const struct miniapp_input_options *options,
                                       struct miniapp_input **opened)
{
    if (opened)
        *opened = NULL;
    if (!opened || !path || (count && !wanted))
        return null_given();
    for (size_t i = 0; i < count; i++)
        if (!wanted[i])
            return fail(MINIAPP_USAGE, "%s: a wanted field is NULL", path);
    struct miniapp_input *const input = calloc(1, sizeof(*input));
    if (!input || !(input->path = strdup(path))) {
        free(input);
        return fail(MINIAPP_DEVICE, "out of memory for an input");
    }
    input->strips = 1;
    if (options) {
        input->allow = options->allow;
        memcpy(input->source, options->source, sizeof(input->source));
        input->strip = options->strip;
        input->strips = options->strips > 0 ? options->strips : 1;
    }
    enum miniapp_status status = look_at(path, &input->found);
    if (!status)
        status = open_file(path, &input->file);
    if (!status)
        status = read_header(input, wanted, count);
    if (status)
        miniapp_input_close(input);
    else
        *opened = input;
    return status;
}

void miniapp_input_close(struct miniapp_input *input)
{
    if (!input)
        return;
    if (input->file > 0)
        H5Fclose(input->file);
    drop_masks(input);
    free(input->path);
    free(input);
}

/* ---- what it says of itself ---- */

struct miniapp_facts miniapp_input_facts(const struct miniapp_input *input)
{
    return (struct miniapp_facts){.grid = input->window.whole,
                                  .has_ghosts = input->window.has_ghosts,
                                  .has_velocities = has_velocities(input),
                                  .text = input->grid_text,
                                  .passing_bytes = input->passing_bytes};
}

bool miniapp_input_is_cyclic(const struct miniapp_input *input)
{
    return input->window.cyclic_x;
}

struct miniapp_grid miniapp_input_grid(const struct miniapp_input *input)
{
    if (!input)
        return (struct miniapp_grid){0};
    return input->window.has_ghosts ? input->window.whole
                                    : miniapp_grid_with_ghosts(&input->window.whole);
}

bool miniapp_input_setting(const struct miniapp_input *input, const struct miniapp_setting *setting,
                           double *value)
{
    *value = input->setting[setting - settings];
    return input->is_set[setting - settings];
}
