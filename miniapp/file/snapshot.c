/*
 * Snapshots: what the next step in time needs, in the layout of Veros's own snapshots. Fields lie
 * on (Time, z, y, x), without ghosts, from the bottom up, with missing values on land.
 */
#include "hdf5_file.h"
#include "input.h"
#include "output.h"
#include "owned.h"
#include "ranks.h"
#include "state.h"
#include "status.h"
#include "text.h"

#include <hdf5_hl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double missing = -1e18; /* Veros's */
static const double day = 86400;     /* seconds */

/* ---- axes ---- */

struct scale {
    const char *name, *units, *long_name, *of_axis; /* CF's attribute `axis` */
};
static const struct scale scales[] = {
    {"zt", "m", "height of the T point, negative below the surface", "Z"},
    {"zw", "m", "height of the W point, the upper face of the T cell", "Z"},
};
static const struct scale distances[] = {
    {"xt", "m", "distance along x from the western edge", "X"},
    {"yt", "m", "distance along y from the southern edge", "Y"},
};
static const char *const names_of_faces[] = {"xu", "yu"};
static const char *const places_of_faces[] = {"position of eastern faces",
                                              "position of northern faces"};

static bool make_scale(hid_t file, const struct scale *scale)
{
    CLOSED const hid_t dataset = H5Dopen2(file, scale->name, H5P_DEFAULT);
    const bool is_height = scale->of_axis[0] == 'Z';
    return dataset >= 0 && write_text(file, scale->name, "units", scale->units) &&
           write_text(file, scale->name, "long_name", scale->long_name) &&
           write_text(file, scale->name, "axis", scale->of_axis) &&
           write_text(file, scale->name, "positive", is_height ? "up" : "") &&
           (H5DSis_scale(dataset) > 0 || H5DSset_scale(dataset, scale->name) >= 0);
}

static bool write_scale(hid_t file, const struct scale *scale, const double *values, hsize_t length)
{
    return H5LTmake_dataset_double(file, scale->name, 1, &length, values) >= 0 &&
           make_scale(file, scale);
}

/* Writes coordinates of T points and, if there is something on faces, those of the faces beyond
 * them: between two points, as on Veros's grid. */
static bool write_points(hid_t file, const struct scale *scale, bool has_faces, double *values,
                         size_t length)
{
    bool is_written = write_scale(file, scale, values, length);
    if (!is_written || !has_faces)
        return is_written;
    const bool is_y = scale->name[0] == 'y';
    const struct scale faces = {names_of_faces[is_y], scale->units, places_of_faces[is_y],
                                scale->of_axis};
    const double step = length > 1 ? values[length - 1] - values[length - 2] : 0;
    for (size_t i = 0; i + 1 < length; i++)
        values[i] = (values[i] + values[i + 1]) / 2;
    values[length - 1] += step / 2;
    return write_scale(file, &faces, values, length);
}

/* Writes the input's own coordinates of an axis, without its ghosts, for which `values` has
 * room. */
static bool write_theirs(hid_t file, const struct miniapp_input *input, enum miniapp_axis axis,
                         const struct scale *ours, bool has_faces, double *values, size_t length)
{
    char units[TEXT_ATTRIBUTE], long_name[TEXT_ATTRIBUTE];
    CLOSED const hid_t theirs = H5Dopen2(input->file, input->scale[axis], H5P_DEFAULT);
    bool is_written = theirs >= 0 && H5Dread(theirs, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL,
                                             H5P_DEFAULT, values) >= 0;
    if (is_written) {
        const struct scale scale = {ours->name, read_text_attribute(theirs, "units", units),
                                    read_text_attribute(theirs, "long_name", long_name),
                                    ours->of_axis};
        is_written = write_points(file, &scale, has_faces,
                                  values + (input->window.has_ghosts ? MINIAPP_HALO : 0), length);
    }
    return is_written;
}

/* Writes the input's coordinates of an axis, or distances if it has none or the state has another
 * grid. */
static bool write_horizontal(const struct miniapp_output *output, const struct miniapp_input *input,
                             enum miniapp_axis axis, bool has_faces, const double *spacing,
                             size_t length)
{
    const struct scale *const scale = &distances[axis == MINIAPP_Y];
    const size_t ghosts = input && input->window.has_ghosts ? 2 * MINIAPP_HALO : 0;
    OWNED double *const values = malloc((length + ghosts) * sizeof(*values));
    bool is_written = values;
    if (values && input && input->scale[axis][0] &&
        is_coordinate(input->file, input->scale[axis], length + ghosts))
        is_written = write_theirs(output->file, input, axis, scale, has_faces, values, length);
    else if (values) {
        double edge = 0;
        for (size_t i = 0; i < length; edge += spacing[i++])
            values[i] = edge + spacing[i] / 2;
        is_written = write_points(output->file, scale, has_faces, values, length);
    }
    return is_written;
}

/* Days, since the date in the input's attribute time_origin, if it has one. */
static bool write_time(hid_t file, const struct miniapp_input *input, double seconds)
{
    char origin[TEXT_ATTRIBUTE] = "", calendar[TEXT_ATTRIBUTE] = "", units[TEXT_ATTRIBUTE + 16];
    if (input) {
        read_text_attribute(input->file, "time_origin", origin);
        read_text_attribute(input->file, "calendar", calendar);
    }
    snprintf(units, sizeof(units), "days%s%s", origin[0] ? " since " : "", origin);
    const struct scale time = {"Time", units, "time since the start", "T"};
    const double days = seconds / day;
    const hsize_t one = 1, most = H5S_UNLIMITED;
    CLOSED const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    CLOSED const hid_t space = H5Screate_simple(1, &one, &most);
    H5Pset_chunk(creation, 1, &one);
    const hid_t dataset =
        H5Dcreate2(file, time.name, H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    const bool is_written = dataset >= 0 && H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL,
                                                     H5P_DEFAULT, &days) >= 0;
    hdf5_close(dataset);
    return is_written && make_scale(file, &time) &&
           write_text(file, time.name, "calendar", calendar);
}

/* The first process writes; the others pass on what they have of each line and level. */
static enum miniapp_status write_axes(struct miniapp_output *output,
                                      const struct miniapp_input *input,
                                      struct miniapp_state *state, bool has_faces, double seconds)
{
    const struct miniapp_grid inner = miniapp_grid_interior(&state->whole);
    const size_t longest = inner.nx + inner.ny + inner.nz;
    OWNED double *const values = malloc(longest * sizeof(*values));
    if (!values)
        return state_ends_all(state, fail(MINIAPP_OUTPUT, "out of memory for a snapshot"));
    enum miniapp_status status = MINIAPP_DONE;
    bool is_written = !output || write_time(output->file, input, seconds);
    for (size_t i = 0; i < 2 && !status && is_written && output; i++) {
        if (!miniapp_state_has(state, scales[i].name)) /* no field lies on it */
            continue;
        status = miniapp_state_get(state, scales[i].name, values);
        is_written = !status && write_scale(output->file, &scales[i], values, inner.nz);
    }
    for (enum miniapp_axis axis = MINIAPP_X; axis <= MINIAPP_Y; axis++) {
        const char *const name = axis == MINIAPP_X ? "dxt" : "dyt";
        status = first_of(status, miniapp_state_gather(state, name, 0, false, values));
        if (output && !status && is_written)
            is_written = write_horizontal(output, input, axis, has_faces, values,
                                          miniapp_axis_length(axis, &inner));
    }
    return status || is_written ? status : output_failed(output);
}

/* ---- fields ---- */

const struct miniapp_field *mask_for(const struct miniapp_field *field)
{
    const struct miniapp_field *const mask = &fields[field->wet];
    return field->wet != NO_FIELD && mask->type == MINIAPP_MASK ? mask : NULL;
}

size_t level_count(const struct miniapp_field *field, const struct miniapp_grid *grid)
{
    return has_axis(field, MINIAPP_Z) ? grid->nz : 1;
}

int lengths_in_snapshot(const struct miniapp_field *field, const struct miniapp_grid *inner,
                        hsize_t lengths[SNAPSHOT_RANK])
{
    const int flat = has_axis(field, MINIAPP_Z) ? 0 : 1, rank = SNAPSHOT_RANK - flat;
    const hsize_t all[] = {1, inner->nz, inner->ny, inner->nx};
    memcpy(lengths, all + flat, (size_t)rank * sizeof(*lengths));
    lengths[0] = 1;
    return rank;
}

struct box box_of_level(const struct miniapp_field *field, size_t z, size_t x0, size_t y0,
                        const struct miniapp_grid *inner)
{
    struct box box = {.rank = lengths_in_snapshot(field, inner, box.count)};
    if (box.rank == SNAPSHOT_RANK) {
        box.first[1] = z;
        box.count[1] = 1;
    }
    box.first[box.rank - 2] = y0;
    box.first[box.rank - 1] = x0;
    return box;
}

enum miniapp_status make_levels(const struct miniapp_grid *grid, struct levels_of *level)
{
    const size_t cells = grid->nx * grid->ny;
    level->plane = malloc(3 * cells * sizeof(double));
    level->values = level->plane + cells;
    level->mask = level->values + cells;
    return level->plane ? MINIAPP_DONE : fail(MINIAPP_OUTPUT, "out of memory for a snapshot");
}

/* Gathers a level of a field of the whole ocean, or of the mean of one, and of its mask. */
static enum miniapp_status gather_level(struct miniapp_state *state,
                                        const struct miniapp_field *field, const char *name,
                                        size_t z, const struct levels_of *level)
{
    const struct miniapp_grid inner = miniapp_grid_interior(&state->whole);
    const struct miniapp_field *const mask = mask_for(field);
    enum miniapp_status status = MINIAPP_DONE;
    if (mask)
        status = miniapp_state_gather(state, mask->name, z, false, level->mask);
    for (size_t i = 0; i < inner.nx * inner.ny && !mask && ranks_own() == 0; i++)
        level->mask[i] = 1;
    return status ? status : miniapp_state_gather(state, name, z, false, level->values);
}

static bool write_level(hid_t dataset, const struct miniapp_field *field, size_t z,
                        const struct miniapp_grid *inner, const struct levels_of *level)
{
    const struct box box = box_of_level(field, z, 0, 0, inner);
    for (size_t i = 0; i < inner->nx * inner->ny; i++)
        level->values[i] = level->mask[i] != 0 ? level->values[i] : missing;
    return write_box(dataset, &box, level->values) >= 0;
}

static enum miniapp_status write_levels(struct miniapp_output *output, struct miniapp_state *state,
                                        const struct miniapp_field *field, const char *name,
                                        hid_t dataset, const struct levels_of *level)
{
    const struct miniapp_grid inner = miniapp_grid_interior(&state->whole);
    enum miniapp_status status = MINIAPP_DONE;
    for (size_t z = 0; z < level_count(field, &inner); z++) {
        status = first_of(status, gather_level(state, field, name, z, level));
        if (output && !status && dataset >= 0 && !write_level(dataset, field, z, &inner, level))
            status = output_failed(output);
    }
    return status;
}

static bool write_missing(hid_t dataset, hid_t type)
{
    static const char *const names[] = {"_FillValue", "missing_value"};
    const hsize_t one = 1;
    CLOSED const hid_t space = H5Screate_simple(1, &one, NULL);
    for (size_t i = 0; i < 2; i++) {
        CLOSED const hid_t attribute =
            H5Acreate2(dataset, names[i], type, space, H5P_DEFAULT, H5P_DEFAULT);
        if (attribute < 0 || H5Awrite(attribute, H5T_NATIVE_DOUBLE, &missing) < 0)
            return false;
    }
    return true;
}

/* Names the axes of a field's points; the streamfunction lies on corners. */
static void name_points(const struct miniapp_state *state, const struct miniapp_field *field,
                        const char *axes[SNAPSHOT_RANK])
{
    const bool is_corner = lies_on_corners(field, state);
    axes[1] = field->wet == FIELD_maskW || field->is_on_w ? "zw" : "zt";
    axes[2] = is_corner || field->wet == FIELD_maskV ? names_of_faces[1] : distances[1].name;
    axes[3] = is_corner || field->wet == FIELD_maskU ? names_of_faces[0] : distances[0].name;
}

/* Creates the dataset of a field; negative on failure. */
static hid_t create_carried(const struct miniapp_output *output, const struct miniapp_state *state,
                            const struct miniapp_field *field, bool is_mean)
{
    const struct miniapp_grid inner = miniapp_grid_interior(&state->whole);
    const char *axes[SNAPSHOT_RANK];
    hsize_t lengths[SNAPSHOT_RANK], most[SNAPSHOT_RANK];
    const int rank = lengths_in_snapshot(field, &inner, lengths), flat = SNAPSHOT_RANK - rank;
    memcpy(most, lengths, sizeof(most));
    most[0] = H5S_UNLIMITED;
    name_points(state, field, axes);
    axes[flat] = "Time";
    const hid_t type = is_double(field->type, state->precision) ? H5T_IEEE_F64LE : H5T_IEEE_F32LE;
    CLOSED const hid_t space = H5Screate_simple(rank, lengths, most);
    CLOSED const hid_t creation = checked_chunks(lengths, rank);
    const hid_t dataset =
        H5Dcreate2(output->file, field->name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    bool is_described = dataset >= 0 && write_names(dataset, field, !is_under_lid(state)) &&
                        write_text(dataset, ".", "cell_methods", is_mean ? "Time: mean" : "") &&
                        (!mask_for(field) || write_missing(dataset, type));
    for (int i = 0; i < rank && is_described; i++)
        is_described = attach_named(output->file, axes[flat + i], dataset, (unsigned)i);
    if (dataset >= 0 && !is_described)
        H5Dclose(dataset);
    return is_described ? dataset : -1;
}

/* Writes a field, which in the state has that name. */
static enum miniapp_status write_carried(struct miniapp_output *output, struct miniapp_state *state,
                                         const struct miniapp_field *field, const char *name,
                                         const struct levels_of *level)
{
    const bool writes = output && !output->is_spoilt;
    const hid_t dataset = writes ? create_carried(output, state, field, name != field->name) : -1;
    const enum miniapp_status created =
        writes && dataset < 0 ? output_failed(output) : MINIAPP_DONE;
    enum miniapp_status status =
        first_of(created, write_levels(output, state, field, name, dataset, level));
    if (lies_on_corners(field, state))
        status = first_of(status, write_wall(output, status ? -1 : dataset, state, name));
    if (dataset >= 0 && H5Dclose(dataset) < 0 && !status)
        status = output_failed(output);
    return status;
}

/* Veros's attribute of all settings, as JSON. */
static bool write_settings(hid_t file, const struct miniapp_settings *values)
{
    char text[SETTINGS * 64] = "{";
    for (size_t id = 0; id < SETTINGS; id++)
        append(text, sizeof(text), id ? ", " : "", "\"%s\": %.17g", settings[id].name,
               values->value[id]);
    append(text, sizeof(text), "", "}");
    return H5LTset_attribute_string(file, "/", "setup_settings", text) >= 0;
}

static bool write_number(hid_t file, const char *name, double number)
{
    return H5LTset_attribute_double(file, "/", name, &number, 1) >= 0;
}

enum miniapp_status miniapp_output_steps(struct miniapp_output *output,
                                         const struct miniapp_settings *values, size_t steps,
                                         bool has_ghosts)
{
    return write_settings(output->file, values) &&
                   write_number(output->file, STEP_NAME, (double)steps) &&
                   write_number(output->file, "halo", has_ghosts ? MINIAPP_HALO : 0)
               ? MINIAPP_DONE
               : output_failed(output);
}

enum miniapp_status miniapp_output_snapshot(struct miniapp_output *output,
                                            const struct miniapp_input *input,
                                            struct miniapp_state *state,
                                            const struct miniapp_sequence *sequence,
                                            const struct miniapp_field *const *chosen, size_t count,
                                            bool are_means, size_t step)
{
    const struct miniapp_field *carried[MOST_FIELDS];
    const struct miniapp_field *const *const written = chosen ? chosen : carried;
    for (size_t id = 1; id <= miniapp_field_count() && !chosen; id++)
        if (miniapp_sequence_carries(sequence, &fields[id]))
            carried[count++] = &fields[id];
    const double *const setting = state->settings.value;
    struct levels_of level;
    const struct miniapp_grid none = {1, 1, 1};
    bool has_faces = false;
    TRY(state_ends_all(state, make_levels(output ? &state->whole : &none, &level)));
    for (size_t i = 0; i < count; i++)
        has_faces |= written[i]->wet == FIELD_maskU || written[i]->wet == FIELD_maskV ||
                     written[i]->has_wall;
    enum miniapp_status status =
        write_axes(output, input, state, has_faces,
                   setting[SETTING_start_time] + (double)step * setting[SETTING_dt_tracer]);
    for (size_t i = 0; i < count && !(status && !state->exchange); i++) {
        char name[RECORD_NAME];
        const char *const own = written[i]->name;
        status = first_of(status, write_carried(output, state, written[i],
                                                are_means ? mean_name(own, name) : own, &level));
    }
    free(level.plane);
    if (status || !output)
        return status;
    return write_settings(output->file, &state->settings) &&
                   write_number(output->file, STEP_NAME, (double)step)
               ? MINIAPP_DONE
               : output_failed(output);
}
