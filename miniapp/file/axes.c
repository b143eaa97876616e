#include "axes.h"
#include "coordinates.h"
#include "guard.h"
#include "hdf5_error.h"
#include "hdf5_file.h"
#include "status.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the names of axes ---- */

enum { UNKNOWN = MINIAPP_NO_AXIS, TIME = MINIAPP_AXES };

/* In lower case, each between spaces: names of dimensions, CF's standard names, and the values of
 * CF's attribute `axis`. */
static const struct {
    int axis;
    const char *names;
} known_names[] = {
    {MINIAPP_X,
     " x lon longitude nav_lon rlon xt xu xh xq xc xt_ocean xu_ocean lon_rho xi_rho ni nlon "
     "grid_longitude projection_x_coordinate "},
    {MINIAPP_Y,
     " y lat latitude nav_lat rlat yt yu yh yq yc yt_ocean yu_ocean lat_rho eta_rho nj nlat "
     "grid_latitude projection_y_coordinate "},
    {MINIAPP_Z,
     " z zt zw zl zi lev level nav_lev depth deptht depthu depthv depthw z_t z_w st_ocean "
     "sw_ocean nz height height_above_mean_sea_level "},
    {MINIAPP_IP, " ip "},
    {MINIAPP_JP, " jp "},
    {MINIAPP_KR, " kr "},
    {TIME, " t time time_counter time_centered time_instant ocean_time record "},
};

static int axis_called(const char *name)
{
    char word[SCALE_NAME + 2];
    snprintf(word, sizeof(word), " %s ", name);
    for (char *c = word; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    for (size_t i = 0; name[0] && i < sizeof(known_names) / sizeof(*known_names); i++)
        if (strstr(known_names[i].names, word))
            return known_names[i].axis;
    return UNKNOWN;
}

/* ---- dimension scales ---- */

/* Why scales cannot be used: `hdf5` stands for a reason that HDF5 knows. */
static const char hdf5[] = "", no_text[] = "an attribute of one cannot be read";

const char *name_in_group(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The attributes of a scale count more than its name. `lack` is set if one of them cannot be read.
 */
static int axis_of_scale(hid_t scale, const char *path, const char **lack)
{
    static const char *const telling[] = {"axis", "standard_name"};
    char text[TEXT_ATTRIBUTE], name[AXIS_NAME];
    for (size_t i = 0; i < sizeof(telling) / sizeof(*telling); i++) {
        if (find_text(scale, telling[i], sizeof(text), text) <= 0)
            *lack = no_text;
        if (axis_called(text))
            return axis_called(text);
    }
    if (find_text(scale, "units", sizeof(text), text) <= 0)
        *lack = no_text;
    if (strstr(text, " since "))
        return TIME;
    name_of_dimension(path, name);
    return axis_called(name);
}

/* How HDF5 lists what a scale is attached to. */
struct listed {
    hobj_ref_t dataset;
    int dimension;
};

static hid_t listed_type(void)
{
    const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(struct listed));
    H5Tinsert(type, "dataset", HOFFSET(struct listed, dataset), H5T_STD_REF_OBJ);
    H5Tinsert(type, "dimension", HOFFSET(struct listed, dimension), H5T_NATIVE_INT);
    return type;
}

/* How many elements an attribute has; 0 where it does not hold the bytes of as many, as in a
 * damaged file. HDF5 does not check that, because it multiplies without a look at overflow. */
static size_t count_elements(hid_t attribute)
{
    const hid_t space = attribute >= 0 ? H5Aget_space(attribute) : -1;
    const hid_t type = attribute >= 0 ? H5Aget_type(attribute) : -1;
    const hssize_t points = space >= 0 ? H5Sget_simple_extent_npoints(space) : 0;
    const size_t size = type >= 0 ? H5Tget_size(type) : 0;
    const hsize_t held = size > 0 ? H5Aget_storage_size(attribute) / size : 0;
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    return points > 0 && (hsize_t)points <= held ? (size_t)points : 0;
}

/* The list of a scale, which the caller frees; NULL where it cannot be read. */
static struct listed *read_list(hid_t scale, size_t *count)
{
    const hid_t attribute = H5Aopen(scale, "REFERENCE_LIST", H5P_DEFAULT);
    const hid_t type = listed_type();
    *count = count_elements(attribute);
    struct listed *list = *count > 0 ? malloc(*count * sizeof(*list)) : NULL;
    if (list && H5Aread(attribute, type, list) < 0) {
        free(list);
        list = NULL;
    }
    H5Tclose(type);
    if (attribute >= 0)
        H5Aclose(attribute);
    return list;
}

static bool add_scale(struct scales *scales, hid_t scale, const char *name)
{
    size_t count;
    struct listed *const list = read_list(scale, &count);
    struct attachment *all =
        list ? realloc(scales->all, (scales->count + count) * sizeof(*all)) : NULL;
    if (all)
        scales->all = all;
    const int axis = all ? axis_of_scale(scale, name, &scales->lack) : UNKNOWN;
    for (size_t i = 0; all && i < count; i++) {
        struct attachment *const attachment = &all[scales->count++];
        *attachment = (struct attachment){list[i].dataset, list[i].dimension, axis, ""};
        snprintf(attachment->scale, SCALE_NAME, "%s", name);
    }
    free(list);
    return all != NULL;
}

static herr_t look_at_link(hid_t group, const char *name, const H5L_info_t *link, void *data)
{
    struct scales *const scales = data;
    guard_link();
    if (link->type != H5L_TYPE_HARD)
        return 0;
    const hid_t object = H5Oopen(group, name, H5P_DEFAULT);
    const bool is_scale = object >= 0 && H5Iget_type(object) == H5I_DATASET &&
                          H5Aexists(object, "REFERENCE_LIST") != 0;
    if (is_scale && strlen(name) >= SCALE_NAME)
        scales->lack = "the path of one is too long";
    else if (object < 0 || (is_scale && !add_scale(scales, object, name)))
        scales->lack = hdf5;
    if (object >= 0)
        H5Oclose(object);
    return 0;
}

/* HDF5's number of the file in which an object lies. An address, which a reference to an object is,
 * says nothing in another file. */
static bool find_file(hid_t object, unsigned long *number)
{
    H5O_info_t info;
#if H5_VERSION_GE(1, 12, 0)
    const herr_t error = H5Oget_info3(object, &info, H5O_INFO_BASIC);
#else
    const herr_t error = H5Oget_info2(object, &info, H5O_INFO_BASIC);
#endif
    *number = info.fileno;
    return error >= 0;
}

void read_scales(hid_t file, struct scales *scales)
{
    *scales = (struct scales){0};
    if (!find_file(file, &scales->file))
        scales->lack = hdf5;
    if (H5Lvisit(file, H5_INDEX_NAME, H5_ITER_NATIVE, look_at_link, scales) < 0)
        scales->lack = hdf5;
}

void release_scales(struct scales *scales)
{
    free(scales->all);
    *scales = (struct scales){0};
}

bool has_coordinates(hid_t scale)
{
    char name[TEXT_ATTRIBUTE];
    return !strstr(read_text_attribute(scale, "NAME", name), "not a netCDF variable");
}

/* ---- the dimensions of a dataset ---- */

struct dimensions {
    int count;
    const char *scale[H5S_MAX_RANK]; /* NULL where none is attached */
    int axis[H5S_MAX_RANK];
    bool are_named;
};

/* Where no scale is attached, a label may name the axis. H5DSget_label would write beyond its
 * memory if the labels are not one text of variable length for each dimension. False if they are
 * not, or cannot be read. */
static bool read_labels(hid_t dataset, struct dimensions *dimensions)
{
    char *label[H5S_MAX_RANK] = {NULL};
    if (H5Aexists(dataset, "DIMENSION_LABELS") == 0)
        return true;
    const hid_t attribute = H5Aopen(dataset, "DIMENSION_LABELS", H5P_DEFAULT);
    const hid_t type = attribute >= 0 ? H5Aget_type(attribute) : -1;
    const bool is_read = type >= 0 && H5Tis_variable_str(type) > 0 &&
                         count_elements(attribute) == (size_t)dimensions->count &&
                         H5Aread(attribute, type, label) >= 0;
    for (int i = 0; i < dimensions->count; i++) {
        if (!dimensions->axis[i] && label[i])
            dimensions->axis[i] = axis_called(label[i]);
        H5free_memory(label[i]);
    }
    close_attribute(attribute, type, -1);
    return is_read;
}

/* Finds the dimensions of a dataset by the scales of the file. If scales are attached to it, but
 * cannot be found, returns why, else NULL. */
static const char *find_scales(hid_t dataset, const struct scales *scales,
                               struct dimensions *dimensions)
{
    hobj_ref_t own;
    unsigned long file;
    bool are_found = false;
    if (!find_file(dataset, &file) ||
        H5Rcreate(&own, dataset, ".", H5R_OBJECT, H5I_INVALID_HID) < 0)
        return hdf5;
    for (size_t i = 0; i < scales->count && file == scales->file; i++) {
        const struct attachment *const attachment = &scales->all[i];
        const int place = attachment->dimension;
        if (memcmp(&attachment->dataset, &own, sizeof(own)) != 0 || place < 0 ||
            place >= dimensions->count || dimensions->scale[place])
            continue;
        are_found = true;
        dimensions->scale[place] = attachment->scale;
        dimensions->axis[place] = attachment->axis;
    }
    if (H5Aexists(dataset, "DIMENSION_LIST") == 0)
        return NULL;
    if (file != scales->file)
        return "they lie in another file";
    return scales->lack || are_found ? scales->lack : "none of them lists it";
}

/* Finds what names the dimensions of a dataset. What does so but cannot be read is left out if at
 * most one axis has no other name. */
static enum miniapp_status read_dimensions(hid_t dataset, const char *path, const char *name,
                                           const struct scales *scales,
                                           struct dimensions *dimensions)
{
    int unknown = 0;
    const char *const lack = find_scales(dataset, scales, dimensions);
    const bool has_labels = read_labels(dataset, dimensions);
    for (int i = 0; i < dimensions->count; i++)
        unknown += dimensions->axis[i] == UNKNOWN;
    dimensions->are_named = unknown < dimensions->count;
    if (unknown < 2 || (!lack && has_labels))
        return MINIAPP_DONE;
    return fail(MINIAPP_INPUT, "%s: the dimension %s of dataset '%s' cannot be read (%s)", path,
                lack ? "scales" : "labels", name,
                !lack          ? "they are not a text for each dimension"
                : lack == hdf5 ? hdf5_reason()
                               : lack);
}

static void describe_axes(const struct miniapp_field *field, char *text, size_t size)
{
    size_t used = 0;
    for (const enum miniapp_axis *axis = field->axes; *axis && used < size; axis++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                                 miniapp_axis_name(*axis));
}

static enum miniapp_status wrong_number(const char *path, const char *name,
                                        const struct miniapp_field *field,
                                        const struct dimensions *dimensions, bool has_time,
                                        struct time_choice *time)
{
    const int rank = miniapp_field_rank(field);
    const bool may_be_time = !dimensions->are_named && dimensions->count == rank + 1;
    char wanted[64] = "";
    if (may_be_time && time->is_wrong)
        return MINIAPP_INPUT;
    time->is_wrong |= may_be_time;
    describe_axes(field, wanted, sizeof(wanted));
    return fail(MINIAPP_INPUT, "%s: dataset '%s' has %d axes%s, but must have %d: (%s)%s", path,
                name, dimensions->count, has_time ? " with that of time" : "", rank, wanted,
                may_be_time ? "; if the first is time, --time INDEX chooses a record" : "");
}

static enum miniapp_status wrong_names(const char *path, const char *name,
                                       const struct miniapp_field *field,
                                       const struct dimensions *dimensions)
{
    char wanted[64] = "", found[512] = "";
    size_t used = 0;
    describe_axes(field, wanted, sizeof(wanted));
    for (int i = 0; i < dimensions->count && used < sizeof(found); i++) {
        const char *const scale = dimensions->scale[i];
        used += (size_t)snprintf(found + used, sizeof(found) - used, "%s%.100s", i ? ", " : "",
                                 scale ? scale : "?");
    }
    return fail(MINIAPP_INPUT, "%s: dataset '%s' has the axes (%s), but must have (%s)", path, name,
                found, wanted);
}

/* The dimension of time: the one with such a name, or else an unnamed one in front of the field's
 * axes, if it has only one record or one was chosen; -1 if there is none. */
static int find_time(const struct dimensions *dimensions, const struct layout *layout, int rank,
                     const struct time_choice *time)
{
    for (int i = 0; i < dimensions->count; i++)
        if (dimensions->axis[i] == TIME)
            return i;
    const bool may_be = dimensions->count == rank + 1 && dimensions->axis[0] == UNKNOWN;
    return may_be && (layout->length[0] == 1 || time->is_chosen) ? 0 : -1;
}

static enum miniapp_status wrong_record(const char *path, const char *name,
                                        const struct time_choice *time, long long records)
{
    if (records == 0)
        return fail(MINIAPP_INPUT, "%s: dataset '%s' has no record in time", path, name);
    if (!time->is_chosen)
        return fail(MINIAPP_INPUT,
                    "%s: dataset '%s' has %lld records in time: choose one by --time "
                    "INDEX, from 0 to %lld, or -1 for the last",
                    path, name, records, records - 1);
    return fail(MINIAPP_INPUT,
                "%s: dataset '%s' has %lld records in time, but --time chooses "
                "%lld",
                path, name, records, time->index);
}

static enum miniapp_status choose_record(const char *path, const char *name,
                                         struct time_choice *time, struct layout *layout)
{
    const long long records = layout->time < 0 ? 1 : (long long)layout->length[layout->time];
    long long record = time->is_chosen && records != 1 ? time->index : 0;
    const bool is_needed = records != 1 && !time->is_chosen;
    if (record < 0)
        record += records;
    layout->record = (hsize_t)record;
    if (!is_needed && record >= 0 && record < records)
        return MINIAPP_DONE;
    const bool is_said = time->is_wrong;
    time->is_wrong = true;
    return is_said ? MINIAPP_INPUT : wrong_record(path, name, time, records);
}

/* All of the dataset, or a record of it. */
static void take_record(int dimensions, struct layout *layout)
{
    layout->part = (struct box){.rank = dimensions};
    memcpy(layout->part.count, layout->length, sizeof(layout->length));
    if (layout->time >= 0) {
        layout->part.first[layout->time] = layout->record;
        layout->part.count[layout->time] = 1;
    }
}

/* Each axis gets the dimension that has its name; the other axes get the unnamed dimensions, in
 * their order. */
static enum miniapp_status place_axes(const char *path, const char *name,
                                      const struct miniapp_field *field,
                                      const struct dimensions *dimensions, struct layout *layout)
{
    bool is_used[H5S_MAX_RANK] = {false};
    const int rank = miniapp_field_rank(field);
    if (layout->time >= 0)
        is_used[layout->time] = true;
    for (int axis = 0; axis < rank; axis++) {
        layout->place[axis] = -1;
        for (int i = 0; i < dimensions->count && layout->place[axis] < 0; i++)
            if (!is_used[i] && dimensions->axis[i] == (int)field->axes[axis]) {
                layout->place[axis] = i;
                is_used[i] = true;
            }
    }
    for (int axis = 0, i = 0; axis < rank; axis++) {
        if (layout->place[axis] >= 0)
            continue;
        while (is_used[i])
            i++;
        if (dimensions->axis[i] != UNKNOWN)
            return wrong_names(path, name, field, dimensions);
        layout->place[axis] = i++;
        layout->unnamed++;
    }
    return MINIAPP_DONE;
}

enum miniapp_status read_layout(hid_t dataset, const char *path, const char *name,
                                const struct miniapp_field *field, const struct scales *scales,
                                struct time_choice *time, struct layout *layout)
{
    const int rank = miniapp_field_rank(field);
    struct dimensions dimensions = {0};
    const hid_t space = H5Dget_space(dataset);
    *layout = (struct layout){0};
    dimensions.count = H5Sget_simple_extent_dims(space, layout->length, NULL);
    H5Sclose(space);
    enum miniapp_status status = read_dimensions(dataset, path, name, scales, &dimensions);
    if (status)
        return status;
    layout->time = find_time(&dimensions, layout, rank, time);
    if (dimensions.count - (layout->time >= 0) != rank)
        return wrong_number(path, name, field, &dimensions, layout->time >= 0, time);
    status = place_axes(path, name, field, &dimensions, layout);
    for (int axis = 0; axis < rank && !status; axis++)
        layout->scale[axis] = dimensions.scale[layout->place[axis]];
    layout->time_scale = layout->time >= 0 ? dimensions.scale[layout->time] : NULL;
    if (!status)
        status = choose_record(path, name, time, layout);
    if (!status)
        take_record(dimensions.count, layout);
    return status;
}

void narrow_layout(struct layout *layout, const struct miniapp_field *field, enum miniapp_axis axis,
                   size_t first, size_t count)
{
    for (int i = 0; i < miniapp_field_rank(field); i++)
        if (field->axes[i] == axis) {
            layout->part.first[layout->place[i]] = first;
            layout->part.count[layout->place[i]] = count;
        }
}

bool is_in_order(const struct layout *layout, const struct miniapp_field *field)
{
    for (int axis = 1; axis < miniapp_field_rank(field); axis++)
        if (layout->place[axis] < layout->place[axis - 1])
            return false;
    return true;
}

/* What a reader of the message may not know of a dataset: that its axes may be in another order. */
static void explain_order(const struct axes *axes, char *text, size_t size)
{
    char order[64] = "";
    text[0] = '\0';
    if (!axes->unnamed)
        return;
    describe_axes(axes->unnamed_field, order, sizeof(order));
    snprintf(text, size,
             "; the axes of '%.100s' have no names that say which they are: they must be (%s)",
             axes->unnamed, order);
}

enum miniapp_status check_shape(const struct layout *layout, const char *path, const char *name,
                                const struct miniapp_field *field, struct axes *axes)
{
    char order[256];
    if (layout->unnamed > 1 && !axes->unnamed) {
        axes->unnamed = name;
        axes->unnamed_field = field;
    }
    explain_order(axes, order, sizeof(order));
    for (int i = 0; i < miniapp_field_rank(field); i++) {
        const enum miniapp_axis axis = field->axes[i];
        const hsize_t length = layout->length[layout->place[i]];
        const bool is_length = length > 0 && length <= MINIAPP_MAX_CELLS;
        if (!is_length && axes->is_disputed[axis])
            return MINIAPP_INPUT;
        axes->is_disputed[axis] |= !is_length;
        if (!is_length)
            return fail(
                MINIAPP_INPUT, "%s: dataset '%s' has %llu cells along %s, but must have 1 to %d",
                path, name, (unsigned long long)length, miniapp_axis_name(axis), MINIAPP_MAX_CELLS);
        if (!axes->said_by[axis]) {
            axes->length[axis] = (size_t)length;
            axes->said_by[axis] = name;
        } else if (axes->length[axis] != length && !axes->is_disputed[axis]) {
            axes->is_disputed[axis] = true;
            return fail(MINIAPP_INPUT,
                        "%s: dataset '%s' has %llu cells along %s, but '%s' has %zu%s", path, name,
                        (unsigned long long)length, miniapp_axis_name(axis), axes->said_by[axis],
                        axes->length[axis], order);
        }
    }
    return MINIAPP_DONE;
}
