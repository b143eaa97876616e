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
enum { XT, YT, XU, YU, ZT, ZW };
static const struct scale scales[] = {
    {"xt", "m", "distance along x from the western edge", "X"},
    {"yt", "m", "distance along y from the southern edge", "Y"},
    {"xu", "m", "position of eastern faces", "X"},
    {"yu", "m", "position of northern faces", "Y"},
    {"zt", "m", "height of the T point, negative below the surface", "Z"},
    {"zw", "m", "height of the W point, the upper face of the T cell", "Z"},
};

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
    struct scale faces = scales[scale->of_axis[0] == 'Y' ? YU : XU];
    faces.units = scale->units;
    const double step = length > 1 ? values[length - 1] - values[length - 2] : 0;
    for (size_t i = 0; i + 1 < length; i++)
        values[i] = (values[i] + values[i + 1]) / 2;
    values[length - 1] += step / 2;
    return write_scale(file, &faces, values, length);
}

/* Reads the input's own coordinates of an axis, ghosts included, and how it describes them. */
static bool read_theirs(const struct miniapp_input *input, enum miniapp_axis axis, double *values,
                        char units[TEXT_ATTRIBUTE], char long_name[TEXT_ATTRIBUTE])
{
    CLOSED const hid_t theirs = H5Dopen2(input->file, input->scale[axis], H5P_DEFAULT);
    if (theirs < 0 || H5Dread(theirs, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
        return false;
    read_text_attribute(theirs, "units", units);
    read_text_attribute(theirs, "long_name", long_name);
    return true;
}

/* Writes the input's coordinates of an axis, or distances if it has none or the state has another
 * grid. */
static bool write_horizontal(const struct miniapp_output *output, const struct miniapp_input *input,
                             enum miniapp_axis axis, bool has_faces, const double *spacing,
                             size_t length)
{
    struct scale scale = scales[axis == MINIAPP_Y ? YT : XT];
    char units[TEXT_ATTRIBUTE], long_name[TEXT_ATTRIBUTE];
    const size_t ghosts = input && input->window.has_ghosts ? MINIAPP_HALO : 0;
    OWNED double *const values = malloc((length + 2 * ghosts) * sizeof(*values));
    double edge = 0;
    if (!values)
        return false;
    for (size_t i = 0; i < length; edge += spacing[i++])
        values[ghosts + i] = edge + spacing[i] / 2;
    if (input && input->scale[axis][0] &&
        is_coordinate(input->file, input->scale[axis], length + 2 * ghosts)) {
        if (!read_theirs(input, axis, values, units, long_name))
            return false;
        scale.units = units;
        scale.long_name = long_name;
    }
    return write_points(output->file, &scale, has_faces, values + ghosts, length);
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
    for (int i = ZT; i <= ZW && !status && is_written && output; i++) {
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

static enum miniapp_status write_level(struct miniapp_output *output, size_t z, size_t cells,
                                       const struct levels_of *level)
{
    for (size_t i = 0; i < cells; i++)
        level->values[i] = level->mask[i] != 0 ? level->values[i] : missing;
    return miniapp_output_plane(output, z, level->values);
}

/* As attributes of the field's own type. */
static bool write_missing(hid_t dataset, bool is_wide)
{
    static const char *const names[] = {"_FillValue", "missing_value"};
    const float narrow = (float)missing;
    bool is_written = true;
    for (size_t i = 0; i < 2 && is_written; i++)
        is_written = (is_wide ? H5LTset_attribute_double(dataset, ".", names[i], &missing, 1)
                              : H5LTset_attribute_float(dataset, ".", names[i], &narrow, 1)) >= 0;
    return is_written;
}

/* Names the axes of a field's points; the streamfunction lies on corners. */
static void name_points(struct miniapp_output *output, const struct miniapp_state *state,
                        const struct miniapp_field *field, const struct miniapp_grid *inner)
{
    const bool is_corner = lies_on_corners(field, state);
    const int points[] = {is_corner || field->wet == FIELD_maskU ? XU : XT,
                          is_corner || field->wet == FIELD_maskV ? YU : YT,
                          field->wet == FIELD_maskW || field->is_on_w ? ZW : ZT};
    for (enum miniapp_axis axis = MINIAPP_X; axis <= MINIAPP_Z; axis++) {
        struct named_axis *const named = &output->axes[axis];
        named->length = miniapp_axis_length(axis, inner);
        snprintf(named->name, AXIS_NAME, "%s", scales[points[axis - MINIAPP_X]].name);
    }
}

static enum miniapp_status begin_carried(struct miniapp_output *output,
                                         const struct miniapp_state *state,
                                         const struct miniapp_field *field,
                                         const struct miniapp_grid *inner, bool is_mean)
{
    name_points(output, state, field, inner);
    TRY(miniapp_output_begin(output, NULL, field, inner, state->precision, !is_under_lid(state)));
    return write_text(output->dataset, ".", "cell_methods", is_mean ? "Time: mean" : "") &&
                   (!mask_for(field) ||
                    write_missing(output->dataset, is_double(field->type, state->precision)))
               ? MINIAPP_DONE
               : output_failed(output);
}

/* Writes a field, which in the state has that name. The other processes pass on what they have of
 * it, even if it cannot be written. */
static enum miniapp_status write_carried(struct miniapp_output *output, struct miniapp_state *state,
                                         const struct miniapp_field *field, const char *name,
                                         const struct levels_of *level)
{
    const struct miniapp_grid inner = miniapp_grid_interior(&state->whole);
    struct miniapp_output *const own = output && !output->is_spoilt ? output : NULL;
    enum miniapp_status status =
        own ? begin_carried(own, state, field, &inner, name != field->name) : MINIAPP_DONE;
    for (size_t z = 0; z < level_count(field, &inner); z++) {
        status = first_of(status, gather_level(state, field, name, z, level));
        if (own && !status)
            status = write_level(own, z, inner.nx * inner.ny, level);
    }
    status = first_of(status, miniapp_output_wall(status ? NULL : own, state, field, name));
    return own && !status ? miniapp_output_end(own) : status;
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

static bool write_steps(hid_t file, const struct miniapp_settings *values, size_t steps)
{
    return write_settings(file, values) && write_number(file, STEP_NAME, (double)steps);
}

enum miniapp_status miniapp_output_steps(struct miniapp_output *output,
                                         const struct miniapp_settings *values, size_t steps,
                                         bool has_ghosts)
{
    return write_steps(output->file, values, steps) &&
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
    if (output)
        output->is_in_time = true;
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
    return write_steps(output->file, &state->settings, step) ? MINIAPP_DONE : output_failed(output);
}
