/* Whether the axes of a file are plausible: levels, rows and columns in their order, and datasets
 * whose coordinates agree. */
#include "coordinates.h"
#include "hdf5_file.h"
#include "input.h"
#include "status.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- the order of levels ---- */

/* 1 if the numbers rise, -1 if they fall, else 0; `broken` is the first that breaks the order. */
static int direction_of(const double *numbers, size_t count, size_t *broken)
{
    const int direction = count < 2 ? 1 : (numbers[1] > numbers[0]) - (numbers[1] < numbers[0]);
    for (*broken = 1; *broken < count; (*broken)++)
        if (!(direction * (numbers[*broken] - numbers[*broken - 1]) > 0))
            return 0;
    return direction;
}

static enum miniapp_status check_heights(const struct miniapp_input *input, enum field_id id,
                                         const double *height, bool is_ordered, size_t broken)
{
    if (input->allow & MINIAPP_ALLOW_INVALID)
        return MINIAPP_DONE;
    for (size_t k = 0; k < input->grid.nz; k++)
        if (height[k] > 0 && isfinite(height[k]))
            return fail(MINIAPP_INPUT, "%s: %s is %g, but heights are negative below the surface",
                        input->path, place_in_file(input, id, k), height[k]);
    if (!is_ordered && isfinite(height[broken]) && isfinite(height[broken - 1]))
        return fail(MINIAPP_INPUT,
                    "%s: %s is %g after %g, but heights rise from level to level, or "
                    "fall",
                    input->path, place_in_file(input, id, broken), height[broken],
                    height[broken - 1]);
    return MINIAPP_DONE;
}

/* Heights that fall begin at the surface, if they are plausible at all. Those of upper faces are
 * read without checks, which would compare them with other lines: these may be read only when the
 * direction is known. */
static enum miniapp_status find_by_heights(struct miniapp_input *input, enum field_id id)
{
    double *height = NULL;
    size_t broken;
    enum miniapp_status status =
        id == FIELD_zw ? read_raw(input, id, &height) : read_field(input, id, &height);
    if (status)
        return status;
    const int direction = direction_of(height, input->grid.nz, &broken);
    status = check_heights(input, id, height, direction != 0, broken);
    input->is_surface_first = direction < 0 && height[0] <= 0;
    free(height);
    return status;
}

/* Whether a coordinate counts downwards, 1, or upwards, -1; 0 where it does not say. */
static int sense_of(hid_t scale, const char *path)
{
    char positive[TEXT_ATTRIBUTE], name[TEXT_ATTRIBUTE];
    read_text_attribute(scale, "positive", positive);
    read_text_attribute(scale, "standard_name", name);
    if (strcasecmp(positive, "down") == 0 || strcasecmp(positive, "up") == 0)
        return tolower(positive[0]) == 'd' ? 1 : -1;
    if (strcmp(name, "depth") == 0 ||
        strncasecmp(name_in_group(path), "depth", strlen("depth")) == 0)
        return 1;
    return strncmp(name, "height", strlen("height")) == 0 ? -1 : 0;
}

/* Reads the coordinate variable of an axis, which outputs get, too; the caller frees the values.
 * NULL if the scale has none. `field` lies along that axis. */
static enum miniapp_status read_coordinate(struct miniapp_input *input, enum field_id field,
                                           const char *name, hid_t scale, double **values)
{
    struct time_choice now = {0};
    struct layout layout;
    *values = NULL;
    if (!has_coordinates(scale))
        return MINIAPP_DONE;
    enum miniapp_status status =
        read_layout(scale, input->path, name, &fields[field], &input->scales, &now, &layout);
    if (!status)
        status = check_shape(&layout, input->path, name, &fields[field], &input->axes);
    return status ? status
                  : read_values(scale, input->path, name, &fields[field], &layout, &input->outside,
                                values, NULL);
}

/* Uses the coordinate of the axis, if there is neither zt nor zw. Negative depths are taken for
 * heights. */
static enum miniapp_status find_by_coordinate(struct miniapp_input *input)
{
    static const char *const telling[] = {"positive", "standard_name"};
    const char *const name = input->scale[MINIAPP_Z];
    char text[TEXT_ATTRIBUTE];
    double *values = NULL;
    size_t unused;
    hid_t scale;
    enum miniapp_status status =
        open_dataset(input->file, input->path, name, &input->outside, &scale);
    if (status)
        return status;
    const size_t nz = input->grid.nz;
    int sense = sense_of(scale, name);
    for (size_t i = 0; i < sizeof(telling) / sizeof(*telling) && !status; i++)
        status = read_text_of(scale, input->path, name, telling[i], text);
    if (sense && !status)
        status = read_coordinate(input, FIELD_zt, name, scale, &values);
    if (values && fmin(values[0], values[nz - 1]) < 0)
        sense = -1;
    if (values && nz > 1)
        input->is_surface_first = direction_of(values, nz, &unused) == sense;
    free(values);
    H5Dclose(scale);
    return status;
}

enum miniapp_status find_direction(struct miniapp_input *input)
{
    enum miniapp_status status = MINIAPP_DONE;
    if (is_there(input, FIELD_zt))
        status = find_by_heights(input, FIELD_zt);
    else if (is_there(input, FIELD_zw))
        status = find_by_heights(input, FIELD_zw);
    else if (input->scale[MINIAPP_Z])
        status = find_by_coordinate(input);
    return status;
}

/* ---- coordinates ---- */

/* What coordinates are measured in; those of another kind are not compared. */
enum kind { UNKNOWN, ANGLE, LENGTH, OTHER };

/* The coordinates of an axis without ghosts, in degrees or metres. Those of z are depths, whether
 * the file has heights or depths. */
struct line {
    const char *name; /* of the dataset */
    enum kind kind;
    double period; /* of longitudes; or 0 */
    double *values;
    size_t count, first; /* the first one's index in the file */
};

static double difference(const struct line *line, double from, double to)
{
    return line->period > 0 ? remainder(to - from, line->period) : to - from;
}

/* How far apart a coordinate is from its neighbours. */
static double spacing(const struct line *line, size_t i)
{
    const double *const at = line->values + i;
    const double before = i > 0 ? difference(line, at[-1], at[0]) : 0;
    const double after = i + 1 < line->count ? difference(line, at[0], at[1]) : 0;
    return fmax(fabs(before), fabs(after));
}

/* Datasets on faces have other coordinates than those on cells, but never those of another cell. */
static enum miniapp_status compare_lines(const struct miniapp_input *input, enum field_id id,
                                         enum miniapp_axis axis, const struct line *known,
                                         const struct line *line)
{
    for (size_t i = 0; i < line->count && line->count > 1 && known->kind == line->kind; i++) {
        const double apart = fabs(difference(known, known->values[i], line->values[i]));
        const double cell = fmax(spacing(known, i), spacing(line, i));
        if (apart > 0 && apart >= 0.99 * cell && isfinite(apart))
            return fail(MINIAPP_INPUT,
                        "%s: '%s' lies on '%s', where [%zu] is at %s%g, but by '%s' at %g, more "
                        "than a cell away",
                        input->path, input->name[id], line->name, line->first + i,
                        axis == MINIAPP_Z ? "a depth of " : "", line->values[i], known->name,
                        known->values[i]);
    }
    return MINIAPP_DONE;
}

/* Whether a field that is needed lies on the eastern or northern faces of cells, which would be on
 * the wrong side if columns or rows went the other way. */
static bool needs_faces(const struct miniapp_input *input, enum miniapp_axis axis)
{
    const bool *const needs = input->needed;
    return axis == MINIAPP_X ? needs[FIELD_dxu] || needs[FIELD_maskU] || needs[FIELD_u_wgrid]
                             : needs[FIELD_dyu] || needs[FIELD_cosu] || needs[FIELD_maskV] ||
                                   needs[FIELD_v_wgrid];
}

/* Whether each coordinate lies before the one before it. */
static bool falls(const struct line *line)
{
    size_t i = 1;
    while (i < line->count && difference(line, line->values[i - 1], line->values[i]) < 0)
        i++;
    return line->count > 1 && i == line->count;
}

/* How far it is along all coordinates, and beyond the last one by half a cell. */
static double length_of(const struct line *line)
{
    double length = 0;
    for (size_t i = 1; i < line->count; i++)
        length += difference(line, line->values[i - 1], line->values[i]);
    return length * (1 + 0.5 / (double)(line->count - 1));
}

static enum miniapp_status check_order(const struct miniapp_input *input, enum miniapp_axis axis,
                                       const struct line *line)
{
    const bool is_x = axis == MINIAPP_X;
    if (line->count < 2)
        return MINIAPP_DONE;
    const double first = line->values[0], last = line->values[line->count - 1];
    if (needs_faces(input, axis) && falls(line))
        return fail(MINIAPP_INPUT, "%s: %s, '%s' from %g to %g, but must go from %s", input->path,
                    is_x ? "columns go from east to west" : "rows go from north to south",
                    line->name, first, last, is_x ? "west to east" : "south to north");
    if (input->is_cyclic && line->period > 0 && fabs(length_of(line)) >= line->period)
        return fail(MINIAPP_INPUT,
                    "%s: columns repeat, '%s' goes from %g to %g, but a cyclic ocean has each of "
                    "them once",
                    input->path, line->name, first, last);
    return MINIAPP_DONE;
}

static enum kind kind_of(hid_t scale, const char *name, enum miniapp_axis axis,
                         struct conversion *conversion)
{
    char units[TEXT_ATTRIBUTE];
    read_text_attribute(scale, "units", units);
    if (!units[0])
        return axis == MINIAPP_Z && sense_of(scale, name) ? LENGTH : UNKNOWN;
    if (strncmp(units, "degree", strlen("degree")) == 0)
        return ANGLE;
    return find_conversion(units, "m", conversion) ? LENGTH : OTHER;
}

/* Such as the zeros of a scale that has no coordinates. */
static bool is_constant(const double *values, size_t count)
{
    size_t i = 1;
    while (values && i < count && values[i] == values[0])
        i++;
    return !values || (i == count && count > 1);
}

/* Reads the coordinates of a scale; it has no values if they cannot be compared. */
static enum miniapp_status read_line(struct miniapp_input *input, enum miniapp_axis axis,
                                     const char *name, struct line *line)
{
    static const enum field_id along[] = {
        [MINIAPP_X] = FIELD_dxt, [MINIAPP_Y] = FIELD_dyt, [MINIAPP_Z] = FIELD_zt};
    const size_t count = miniapp_axis_length(axis, &input->whole);
    struct conversion conversion = {.factor = 1};
    double *values = NULL;
    hid_t scale;
    *line = (struct line){.name = name};
    if (!is_coordinate(input->file, name, count))
        return MINIAPP_DONE;
    enum miniapp_status status =
        open_dataset(input->file, input->path, name, &input->outside, &scale);
    if (status)
        return status;
    line->kind = kind_of(scale, name, axis, &conversion);
    if (H5Dget_storage_size(scale) > 0) /* somebody has written it */
        status = read_coordinate(input, along[axis], name, scale, &values);
    H5Dclose(scale);
    for (size_t i = 0; i < count && values; i++) {
        values[i] = conversion.factor * values[i] + conversion.offset;
        values[i] = axis == MINIAPP_Z ? fabs(values[i]) : values[i];
    }
    line->first = input->has_ghosts && axis != MINIAPP_Z ? MINIAPP_HALO : 0;
    line->count = count > 2 * line->first ? count - 2 * line->first : 0;
    line->period = line->kind == ANGLE && axis == MINIAPP_X ? 360 : 0;
    if (line->kind == OTHER || is_constant(values, count)) {
        free(values);
        return status;
    }
    line->values = memmove(values, values + line->first, line->count * sizeof(*values));
    return status;
}

/* The levels of zt or zw in the order of the file, if it has one of them. */
static enum miniapp_status read_levels(struct miniapp_input *input, struct line *line)
{
    const enum field_id id = is_there(input, FIELD_zt) ? FIELD_zt : FIELD_zw;
    enum miniapp_status status = MINIAPP_DONE;
    *line = (struct line){.name = input->name[id], .kind = LENGTH, .count = input->whole.nz};
    if (is_there(input, id))
        status = read_raw(input, id, &line->values);
    if (line->values)
        miniapp_input_restore_order(input, &fields[id], &input->grid, line->values);
    for (size_t k = 0; k < line->count && line->values; k++)
        line->values[k] = fabs(line->values[k]);
    return status;
}

/* Whether a dataset before this one has the same scale for an axis. */
static bool was_seen(const struct miniapp_input *input, enum field_id id, enum miniapp_axis axis)
{
    for (enum field_id other = NO_FIELD + 1; other < id; other++)
        if (input->own_scale[other][axis] &&
            strcmp(input->own_scale[other][axis], input->own_scale[id][axis]) == 0)
            return true;
    return false;
}

/* Checks each of an axis's scales, and compares them with the first one or, along z, with zt. */
static enum miniapp_status check_axis(struct miniapp_input *input, enum miniapp_axis axis)
{
    struct line known = {0}, line;
    enum miniapp_status status = axis == MINIAPP_Z ? read_levels(input, &known) : MINIAPP_DONE;
    for (enum field_id id = NO_FIELD + 1; id <= miniapp_field_count() && !status; id++) {
        if (!input->own_scale[id][axis] || was_seen(input, id, axis))
            continue;
        status = read_line(input, axis, input->own_scale[id][axis], &line);
        if (!line.values)
            continue;
        if (!status && axis != MINIAPP_Z)
            status = check_order(input, axis, &line);
        if (!status && known.values)
            status = compare_lines(input, id, axis, &known, &line);
        if (known.values)
            free(line.values);
        else
            known = line;
    }
    free(known.values);
    return status;
}

enum miniapp_status check_axes(struct miniapp_input *input)
{
    enum miniapp_status status = MINIAPP_DONE;
    if (input->allow & MINIAPP_ALLOW_INVALID)
        return MINIAPP_DONE;
    for (enum miniapp_axis axis = MINIAPP_X; axis <= MINIAPP_Z && goes_on(status); axis++) {
        const enum miniapp_status found = check_axis(input, axis);
        status = first_of(status, found);
    }
    return status;
}
