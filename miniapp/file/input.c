/* Inputs. */
#include "guard.h"
#include "hdf5_file.h"
#include "range.h"
#include "regrid.h"
#include "state.h"
#include "status.h"

#include <math.h>
#include <miniapp/file.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct miniapp_input {
    char *path;
    hid_t file;
    int allow;
    bool needed[FIELDS]; /* the wanted ones, and what stands in for those that are absent */
    struct miniapp_grid grid; /* as in the file, with or without ghosts */
    bool has_ghosts, is_cyclic;
    bool is_set[SETTINGS]; /* by the file */
    double setting[SETTINGS];
    double *wet[FIELDS]; /* what says where others count, once it was read */
};

/* ---- settings and grid ---- */

/* An attribute that is 0, 1 or 2; `value` holds the default. */
static enum miniapp_status read_choice(hid_t file, const char *path, const char *name,
                                       const char *choices, int *value)
{
    bool found;
    double number = *value;
    const enum miniapp_status status = read_attribute(file, path, name, &found, &number);
    if (status)
        return status;
    if (!(number >= 0 && number <= 9) || number != floor(number) ||
        !strchr(choices, '0' + (int)number))
        return fail(MINIAPP_INPUT, "%s: attribute '%s' is %g, but must be one of %s", path, name,
                    number, choices);
    *value = (int)number;
    return MINIAPP_DONE;
}

static enum miniapp_status read_settings(struct miniapp_input *input)
{
    enum miniapp_status status = MINIAPP_DONE;
    for (size_t id = 0; id < SETTINGS && !status; id++)
        status = read_attribute(input->file, input->path, settings[id].name, &input->is_set[id],
                                &input->setting[id]);
    return status;
}

/* A field that is absent needs what stands in for it. */
static void list_needed(struct miniapp_input *input, const struct miniapp_field *const *wanted,
                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct miniapp_field *const field = wanted[i];
        input->needed[field_id(field)] = true;
        if (field->is_optional && !has_dataset(input->file, field->name))
            input->needed[field->stand_in] = true;
    }
    input->needed[NO_FIELD] = false;
}

/* All that are missing, in one line. */
static enum miniapp_status check_missing(const struct miniapp_input *input)
{
    char names[2048] = "";
    const struct miniapp_field *one = NULL;
    size_t missing = 0, used = 0;
    for (size_t id = 1; id < FIELDS; id++) {
        const struct miniapp_field *const field = &fields[id];
        if (!input->needed[id] || field->is_optional || has_dataset(input->file, field->name))
            continue;
        if (used < sizeof(names))
            used += (size_t)snprintf(names + used, sizeof(names) - used, "%s'%s' (%s, %s)",
                                     missing ? ", " : "", field->name, field->long_name,
                                     field->units);
        one = field;
        missing++;
    }
    if (missing == 0)
        return MINIAPP_DONE;
    if (missing == 1)
        return fail(MINIAPP_INPUT, "%s: dataset '%s' is missing (%s, %s)", input->path, one->name,
                    one->long_name, one->units);
    return fail(MINIAPP_INPUT, "%s: %zu datasets are missing: %s", input->path, missing, names);
}

/* The lengths of x, y and z, from every dataset that will be read. An axis that none of them has
 * gets the least length. */
static enum miniapp_status read_grid(struct miniapp_input *input)
{
    const char *const path = input->path;
    struct axes axes = {0};
    for (size_t id = 1; id < FIELDS; id++) {
        hid_t dataset;
        if (!input->needed[id] || !has_dataset(input->file, fields[id].name))
            continue;
        enum miniapp_status status = open_dataset(input->file, path, fields[id].name, &dataset);
        if (status)
            return status;
        status = check_shape(dataset, path, &fields[id], &axes);
        H5Dclose(dataset);
        if (status)
            return status;
    }
    const size_t least = input->has_ghosts ? MINIAPP_MIN_CELLS : 1;
    for (enum miniapp_axis axis = MINIAPP_X; axis <= MINIAPP_Y; axis++)
        if (axes.said_by[axis] && axes.length[axis] < least)
            return fail(MINIAPP_INPUT,
                        "%s: %zu cells along %s are too few: %d ghost cells on each side and one "
                        "between make %zu", path, axes.length[axis], miniapp_axis_name(axis),
                        MINIAPP_HALO, least);
    input->grid = (struct miniapp_grid){
        axes.said_by[MINIAPP_X] ? axes.length[MINIAPP_X] : least,
        axes.said_by[MINIAPP_Y] ? axes.length[MINIAPP_Y] : least,
        axes.said_by[MINIAPP_Z] ? axes.length[MINIAPP_Z] : 1,
    };
    return MINIAPP_DONE;
}

double miniapp_input_passing_bytes(const struct miniapp_input *input)
{
    double most = 0;
    for (size_t id = 1; id < FIELDS; id++)
        if (input->needed[id])
            most = fmax(most, (double)sizeof(double) *
                                  (double)miniapp_field_elements(&fields[id], &input->grid));
    return most;
}

/* One dataset at a time is held as double. */
static enum miniapp_status check_memory(const struct miniapp_input *input)
{
    const char *limit;
    const double available = miniapp_host_memory(&limit);
    for (size_t id = 1; id < FIELDS; id++) {
        const double bytes = input->needed[id] ? (double)sizeof(double) *
                                 (double)miniapp_field_elements(&fields[id], &input->grid) : 0;
        if (bytes > available)
            return fail(MINIAPP_INPUT, "%s: dataset '%s' is too large for memory: it needs %.3g GB, "
                                       "but %s %.3g GB", input->path, fields[id].name, bytes / 1e9,
                        limit, available / 1e9);
    }
    return MINIAPP_DONE;
}

/* ---- values ---- */

static enum miniapp_status check_values(const struct miniapp_input *input,
                                        const struct miniapp_field *field, const double *values,
                                        size_t elements)
{
    const bool whole = field->type != MINIAPP_REAL;
    const bool accepted = !whole && (input->allow & MINIAPP_ALLOW_NONFINITE);
    for (size_t i = 0; i < elements; i++) {
        if (!isfinite(values[i]) && !accepted)
            return fail(MINIAPP_INPUT, "%s: %s is %g%s", input->path,
                        element_name(field, &input->grid, i), values[i],
                        whole ? ", but must be whole" : " (--allow-nonfinite accepts it)");
        if (whole && values[i] != floor(values[i]))
            return fail(MINIAPP_INPUT, "%s: %s is %g, but must be whole", input->path,
                        element_name(field, &input->grid, i), values[i]);
    }
    return MINIAPP_DONE;
}

/* Whether an element counts: where a mask is 1, or at and above the deepest wet level. */
static bool counts(const struct miniapp_input *input, enum field_id wet, size_t element)
{
    const double *const data = input->wet[wet];
    const size_t plane = input->grid.nx * input->grid.ny;
    if (!data)
        return true;
    if (fields[wet].type == MINIAPP_MASK)
        return data[element] != 0;
    const double deepest = data[element % plane];
    return deepest > 0 && (double)(element / plane + 1) >= deepest;
}

/* Whether values lie in the field's valid range, where they count. Masks and
 * indices always have to, and no index is above the surface: kernels address memory by them. */
static enum miniapp_status check_range(const struct miniapp_input *input,
                                       const struct miniapp_field *field, const double *values,
                                       size_t elements)
{
    const double most = field->counts ? (double)miniapp_axis_length(field->counts, &input->grid)
                                      : field->valid_max;
    if ((input->allow & MINIAPP_ALLOW_INVALID) && field->type == MINIAPP_REAL)
        return MINIAPP_DONE;
    for (size_t i = 0; i < elements; i++) {
        const bool outside = values[i] < field->valid_min || values[i] > most;
        if (!outside || !isfinite(values[i]) || !counts(input, field->wet, i))
            continue; /* check_values has seen what is not finite */
        char range[RANGE_TEXT];
        return fail(MINIAPP_INPUT, "%s: %s is %g, but must be %s%s", input->path,
                    element_name(field, &input->grid, i), values[i],
                    range_text(field->valid_min, most, range), field->wet ? " on water" : "");
    }
    return MINIAPP_DONE;
}

static enum miniapp_status read_field(struct miniapp_input *input, enum field_id id,
                                      double **values);

/* The field is absent: what stands in for it. */
static enum miniapp_status stand_in(struct miniapp_input *input, enum field_id id, double *values,
                                    size_t elements)
{
    const struct miniapp_field *const field = &fields[id];
    double *source = NULL;
    enum miniapp_status status = MINIAPP_DONE;
    if (field->stand_in && !field->is_sampled)
        status = read_field(input, field->stand_in, &source);
    for (size_t i = 0; i < elements && !status; i++)
        values[i] = field->is_sampled ? sample_of(i)
                    : source          ? field->stand_in_factor * source[i]
                                      : 0;
    free(source);
    return status;
}

static enum miniapp_status read_dataset(struct miniapp_input *input,
                                        const struct miniapp_field *field, size_t elements,
                                        double **values)
{
    hid_t dataset;
    enum miniapp_status status = open_dataset(input->file, input->path, field->name, &dataset);
    if (status)
        return status;
    status = read_whole(dataset, input->path, field, elements, values);
    H5Dclose(dataset);
    return status;
}

/* What says where others count is kept. */
static enum miniapp_status read_wet(struct miniapp_input *input, enum field_id id)
{
    if (!id || input->wet[id] || !input->needed[id])
        return MINIAPP_DONE;
    return read_field(input, id, &input->wet[id]);
}

/* A field on the file's grid, checked. The caller frees the values. */
static enum miniapp_status read_field(struct miniapp_input *input, enum field_id id,
                                      double **values)
{
    const struct miniapp_field *const field = &fields[id];
    const size_t elements = miniapp_field_elements(field, &input->grid);
    enum miniapp_status status = read_wet(input, field->wet);
    *values = NULL;
    if (status)
        return status;
    if (has_dataset(input->file, field->name)) {
        status = read_dataset(input, field, elements, values);
    } else {
        *values = malloc(elements * sizeof(**values));
        status = *values ? stand_in(input, id, *values, elements)
                         : fail(MINIAPP_DEVICE, "out of memory for '%s'", field->name);
    }
    if (!status)
        status = check_values(input, field, *values, elements);
    if (!status)
        status = check_range(input, field, *values, elements);
    if (status) {
        free(*values);
        *values = NULL;
    }
    return status;
}

/* ---- the input ---- */

static enum miniapp_status read_header(struct miniapp_input *input,
                                       const struct miniapp_field *const *wanted, size_t count)
{
    int halo = MINIAPP_HALO;
    int cyclic = 0;
    enum miniapp_status status = read_choice(input->file, input->path, "halo", "02", &halo);
    if (!status)
        status = read_choice(input->file, input->path, "cyclic_x", "01", &cyclic);
    if (!status)
        status = read_settings(input);
    if (status)
        return status;
    input->has_ghosts = halo == MINIAPP_HALO;
    input->is_cyclic = cyclic == 1;
    list_needed(input, wanted, count);
    status = check_missing(input);
    if (!status)
        status = read_grid(input);
    return status ? status : check_memory(input);
}

enum miniapp_status miniapp_input_open(const char *path, const struct miniapp_field *const *wanted,
                                       size_t count, int allow, struct miniapp_input **opened)
{
    struct miniapp_input *const input = calloc(1, sizeof(*input));
    *opened = NULL;
    if (!input || !(input->path = strdup(path))) {
        free(input);
        return fail(MINIAPP_DEVICE, "out of memory for an input");
    }
    input->allow = allow;
    guard_start(path);
    enum miniapp_status status = open_file(path, &input->file);
    if (!status)
        status = read_header(input, wanted, count);
    guard_end();
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
    for (size_t id = 0; id < FIELDS; id++)
        free(input->wet[id]);
    free(input->path);
    free(input);
}

struct miniapp_grid miniapp_input_file_grid(const struct miniapp_input *input)
{
    return input->grid;
}

struct miniapp_grid miniapp_input_grid(const struct miniapp_input *input)
{
    return input->has_ghosts ? input->grid : miniapp_grid_with_ghosts(&input->grid);
}

bool miniapp_input_has_ghosts(const struct miniapp_input *input)
{
    return input->has_ghosts;
}

bool miniapp_input_is_cyclic(const struct miniapp_input *input)
{
    return input->is_cyclic;
}

bool miniapp_input_setting(const struct miniapp_input *input,
                           const struct miniapp_setting *setting, double *value)
{
    *value = input->setting[setting - settings];
    return input->is_set[setting - settings];
}

/* ---- into states ---- */

static enum miniapp_status check_target(const struct miniapp_input *input,
                                        const struct miniapp_field *field,
                                        const struct miniapp_target *target)
{
    const struct miniapp_grid own = miniapp_input_grid(input);
    const struct miniapp_grid grid = miniapp_state_grid(target->state);
    const struct slot *const slot = state_slot(target->state, target->name);
    if (!slot)
        return MINIAPP_USAGE;
    if (!same_shape(slot->field, field))
        return fail(MINIAPP_USAGE, "'%s' cannot take '%s': it has other axes or another type",
                    slot->name, field->name);
    if (!target->resample && memcmp(&own, &grid, sizeof(own)) != 0)
        return fail(MINIAPP_USAGE, "%s: '%s' has another grid than the state, and is not to be "
                                   "resampled", input->path, field->name);
    return MINIAPP_DONE;
}

/* Plane by plane: the state's memory is all that is needed beside the file's field. */
static enum miniapp_status fill(const struct miniapp_input *input,
                                const struct miniapp_field *field, const double *values,
                                const struct miniapp_target *target)
{
    const struct file_grid from = {input->grid, input->has_ghosts, input->is_cyclic};
    const struct miniapp_grid to = miniapp_state_grid(target->state);
    struct regrid regrid;
    enum miniapp_status status = regrid_open(field, &from, &to, target->resample, &regrid);
    for (size_t plane = 0; plane < regrid.planes && !status; plane++)
        status = miniapp_state_set_part(target->state, target->name, plane * regrid.plane_elements,
                                        regrid.plane_elements,
                                        regrid_plane(&regrid, values, plane));
    regrid_close(&regrid);
    return status;
}

enum miniapp_status miniapp_input_load(struct miniapp_input *input,
                                       const struct miniapp_field *field,
                                       const struct miniapp_target *targets, size_t count)
{
    double *values = NULL;
    if (!input->needed[field_id(field)])
        return fail(MINIAPP_USAGE, "%s: dataset '%s' was not wanted when the file was opened",
                    input->path, field->name);
    guard_start(input->path);
    enum miniapp_status status = read_field(input, field_id(field), &values);
    guard_end();
    for (size_t i = 0; i < count && !status; i++) {
        status = check_target(input, field, &targets[i]);
        if (status)
            break;
        miniapp_state_set_cyclic(targets[i].state, input->is_cyclic);
        status = fill(input, field, values, &targets[i]);
    }
    free(values);
    return status;
}
