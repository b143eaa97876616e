#include "input.h"
#include "guard.h"
#include "hdf5_error.h"
#include "memory.h"
#include "options.h"
#include "range.h"
#include "status.h"

#include <errno.h>
#include <hdf5.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum physics_status open_file(const char *path, hid_t *file)
{
    struct stat there;
    hdf5_start();
    if (access(path, R_OK) != 0 || stat(path, &there) != 0)
        return fail(PHYSICS_INPUT, "%s: %s", path, strerror(errno));
    if (!S_ISREG(there.st_mode)) /* opening a pipe would wait for its writer */
        return fail(PHYSICS_INPUT, "%s: not an HDF5 file, nor any regular file", path);
    *file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (*file < 0)
        return fail(PHYSICS_INPUT, "%s: not an HDF5 file, or a damaged one (%s)", path,
                    hdf5_reason());
    return PHYSICS_DONE;
}

/* A numeric scalar attribute. `found` says whether it is there. */
static enum physics_status read_attribute(hid_t object, const char *path, const char *name,
                                          bool *found, double *value)
{
    const htri_t exists = H5Aexists(object, name);
    *found = exists > 0;
    if (exists == 0)
        return PHYSICS_DONE;
    const hid_t attribute = exists > 0 ? H5Aopen(object, name, H5P_DEFAULT) : -1;
    const hid_t type = attribute >= 0 ? H5Aget_type(attribute) : -1;
    const hid_t space = attribute >= 0 ? H5Aget_space(attribute) : -1;
    enum physics_status status = PHYSICS_DONE;
    if (type < 0 || space < 0)
        status = fail(PHYSICS_INPUT, "%s: attribute '%s' cannot be read (%s)", path, name,
                      hdf5_reason());
    else if (H5Tget_class(type) != H5T_INTEGER && H5Tget_class(type) != H5T_FLOAT)
        status = fail(PHYSICS_INPUT, "%s: attribute '%s' must be a number", path, name);
    else if (H5Sget_simple_extent_npoints(space) != 1)
        status = fail(PHYSICS_INPUT, "%s: attribute '%s' must be a single number", path, name);
    else if (H5Aread(attribute, H5T_NATIVE_DOUBLE, value) < 0)
        status = fail(PHYSICS_INPUT, "%s: attribute '%s' cannot be read (%s)", path, name,
                      hdf5_reason());
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    if (attribute >= 0)
        H5Aclose(attribute);
    return status;
}

/* An attribute that is 0, 1 or 2; `value` holds the default. */
static enum physics_status read_choice(hid_t file, const char *path, const char *name,
                                       const char *choices, int *value)
{
    bool found;
    double number = *value;
    const enum physics_status status = read_attribute(file, path, name, &found, &number);
    if (status)
        return status;
    if (!(number >= 0 && number <= 9) || number != floor(number) ||
        !strchr(choices, '0' + (int)number))
        return fail(PHYSICS_INPUT, "%s: attribute '%s' is %g, but must be one of %s", path, name,
                    number, choices);
    *value = (int)number;
    return PHYSICS_DONE;
}

static enum physics_status read_settings(hid_t file, const char *path, struct input *input)
{
    for (int id = 1; id < PHYSICS_SETTINGS; id++) {
        double value = 0;
        const enum physics_status status = read_attribute(file, path, physics_settings[id].name,
                                                    &input->is_set[id], &value);
        if (status)
            return status;
        input->setting[id] = value;
    }
    return PHYSICS_DONE;
}

/* The axes' lengths as the datasets read so far have them, and which one said so. */
struct axes {
    size_t length[PHYSICS_AXES];
    const char *said_by[PHYSICS_AXES];
};

static void describe_axes(const struct physics_field *field, char *text, size_t size)
{
    size_t used = 0;
    for (const enum physics_axis *axis = field->axes; *axis && used < size; axis++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                                 physics_axis_name(*axis));
}

static enum physics_status check_shape(hid_t space, const char *path,
                                       const struct physics_field *field, struct axes *axes)
{
    hsize_t lengths[H5S_MAX_RANK];
    char wanted[64] = "";
    describe_axes(field, wanted, sizeof(wanted));
    const int rank = H5Sget_simple_extent_ndims(space);
    if (rank != physics_field_rank(field) || H5Sget_simple_extent_dims(space, lengths, NULL) < 0)
        return fail(PHYSICS_INPUT, "%s: dataset '%s' has %d axes, but must have %d: (%s)", path,
                    field->name, rank, physics_field_rank(field), wanted);
    for (int i = 0; i < rank; i++) {
        const enum physics_axis axis = field->axes[i];
        if (lengths[i] == 0 || lengths[i] > PHYSICS_MAX_CELLS)
            return fail(PHYSICS_INPUT,
                        "%s: dataset '%s' has %llu cells along %s, but must have 1 to %d", path,
                        field->name, (unsigned long long)lengths[i], physics_axis_name(axis),
                        PHYSICS_MAX_CELLS);
        if (!axes->said_by[axis]) {
            axes->length[axis] = (size_t)lengths[i];
            axes->said_by[axis] = field->name;
        } else if (axes->length[axis] != lengths[i]) {
            return fail(PHYSICS_INPUT,
                        "%s: dataset '%s' has %llu cells along %s, but '%s' has %zu",
                        path, field->name, (unsigned long long)lengths[i],
                        physics_axis_name(axis), axes->said_by[axis], axes->length[axis]);
        }
    }
    return PHYSICS_DONE;
}

/* netCDF's packed numbers would be taken for the values. */
static enum physics_status check_unpacked(hid_t dataset, const char *path, const char *name)
{
    static const char *const packing[] = {"scale_factor", "add_offset"};
    for (int i = 0; i < 2; i++)
        if (H5Aexists(dataset, packing[i]) != 0)
            return fail(PHYSICS_INPUT, "%s: dataset '%s' is packed (attribute '%s'): unpack it",
                        path, name, packing[i]);
    return PHYSICS_DONE;
}

/* HDF5 reads zeros where nothing was ever written. */
static bool was_written(hid_t dataset)
{
    H5D_space_status_t space;
    return H5Dget_space_status(dataset, &space) < 0 || space != H5D_SPACE_STATUS_NOT_ALLOCATED;
}

/* An open dataset of a real number type; an enumeration counts, since that is how h5py stores
 * booleans. */
static enum physics_status open_dataset(hid_t file, const char *path, const char *name,
                                        hid_t *dataset)
{
    *dataset = H5Dopen2(file, name, H5P_DEFAULT);
    if (*dataset < 0)
        return fail(PHYSICS_INPUT, "%s: dataset '%s' cannot be opened (%s)", path, name,
                    hdf5_reason());
    const hid_t type = H5Dget_type(*dataset);
    const H5T_class_t class = H5Tget_class(type);
    H5Tclose(type);
    enum physics_status status = PHYSICS_DONE;
    if (class != H5T_INTEGER && class != H5T_FLOAT && class != H5T_ENUM)
        status = fail(PHYSICS_INPUT, "%s: dataset '%s' must hold numbers", path, name);
    else
        status = check_unpacked(*dataset, path, name);
    if (status)
        H5Dclose(*dataset);
    return status;
}

/* Reads the whole dataset as double. HDF5 does not convert enumerations: their integers are read
 * as they are and converted in place. */
static herr_t read_values(hid_t dataset, size_t elements, double *values)
{
    guard_data(elements * sizeof(*values));
    const hid_t type = H5Dget_type(dataset);
    herr_t error;
    if (H5Tget_class(type) == H5T_ENUM && H5Tget_size(type) <= sizeof(double)) {
        const hid_t base = H5Tget_super(type);
        error = H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
        if (error >= 0)
            error = H5Tconvert(base, H5T_NATIVE_DOUBLE, elements, values, NULL, H5P_DEFAULT);
        H5Tclose(base);
    } else {
        error = H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    }
    H5Tclose(type);
    return error;
}

/* "salt[3, 0, 17]", an element by its index along each axis. */
static const char *element_name(const struct physics_field *field,
                                const struct physics_grid *grid, size_t element)
{
    static char name[256];
    size_t index[PHYSICS_MAX_RANK];
    const int rank = physics_field_rank(field);
    for (int i = rank - 1; i >= 0; i--) {
        const size_t length = physics_axis_length(field->axes[i], grid);
        index[i] = element % length;
        element /= length;
    }
    int used = snprintf(name, sizeof(name), "%s", field->name);
    for (int i = 0; i < rank; i++)
        used += snprintf(name + used, sizeof(name) - (size_t)used, "%s%zu", i ? ", " : "[",
                         index[i]);
    snprintf(name + used, sizeof(name) - (size_t)used, "]");
    return name;
}

static enum physics_status check_values(const char *path, const struct physics_field *field,
                                        const struct physics_grid *grid, const double *values,
                                        size_t elements, struct checks checks)
{
    const bool whole = field->type != PHYSICS_REAL;
    for (size_t i = 0; i < elements; i++) {
        if (!isfinite(values[i]) && (whole || !checks.allow_nonfinite))
            return fail(PHYSICS_INPUT, "%s: %s is %g%s", path, element_name(field, grid, i),
                        values[i],
                        whole ? ", but must be whole" : " (--allow-nonfinite accepts it)");
        if (whole && values[i] != floor(values[i]))
            return fail(PHYSICS_INPUT, "%s: %s is %g, but must be whole", path,
                        element_name(field, grid, i), values[i]);
    }
    return PHYSICS_DONE;
}

/* Narrows to the field's type; the values are whole numbers then. */
static void store(const double *values, size_t elements, enum physics_type type, void *to)
{
    switch (type) {
    case PHYSICS_MASK:
        for (size_t i = 0; i < elements; i++)
            ((uint8_t *)to)[i] = (uint8_t)values[i];
        break;
    case PHYSICS_INDEX:
        for (size_t i = 0; i < elements; i++)
            ((int32_t *)to)[i] = (int32_t)values[i];
        break;
    case PHYSICS_REAL: memcpy(to, values, elements * sizeof(*values)); break;
    }
}

/* Whether an element counts: where a mask is 1, or at and above the deepest wet level. */
static bool counts(const struct fields *fields, enum physics_field_id wet, size_t element)
{
    const size_t plane = fields->grid.nx * fields->grid.ny;
    const void *data = fields->data[wet];
    if (!data)
        return true;
    if (physics_fields[wet].type == PHYSICS_MASK)
        return ((const uint8_t *)data)[element];
    const int32_t deepest = ((const int32_t *)data)[element % plane];
    return deepest > 0 && element / plane + 1 >= (size_t)deepest;
}

/* Whether values lie in the field's valid range, where they count. Masks and
 * indices always have to, and no index is above the surface: kernels address memory by them. */
static enum physics_status check_range(const char *path, const struct physics_field *field,
                                       const struct fields *fields, const double *values,
                                       size_t elements, struct checks checks)
{
    const double most = field->counts ? (double)physics_axis_length(field->counts, &fields->grid)
                                      : field->valid_max;
    if (checks.allow_invalid && field->type == PHYSICS_REAL)
        return PHYSICS_DONE;
    for (size_t i = 0; i < elements; i++) {
        const bool outside = values[i] < field->valid_min || values[i] > most;
        if (!outside || !isfinite(values[i]) || !counts(fields, field->wet, i))
            continue; /* check_values has seen what is not finite */
        char range[RANGE_TEXT];
        return fail(PHYSICS_INPUT, "%s: %s is %g, but must be %s%s", path,
                    element_name(field, &fields->grid, i), values[i],
                    range_text(field->valid_min, most, range),
                    field->wet ? " on water" : "");
    }
    return PHYSICS_DONE;
}

/* The whole of an open dataset as double, which the caller frees. */
static enum physics_status read_whole(hid_t dataset, const char *path,
                                      const struct physics_field *field, size_t elements,
                                      double **values)
{
    *values = NULL;
    if (!was_written(dataset))
        return fail(PHYSICS_INPUT, "%s: dataset '%s' was never written", path, field->name);
    if (elements <= PTRDIFF_MAX / sizeof(**values))
        *values = malloc(elements * sizeof(**values));
    if (!*values)
        return fail(PHYSICS_INPUT, "%s: dataset '%s' is too large for this machine's memory: "
                                   "%.3g GB", path, field->name, (double)elements * 8e-9);
    if (read_values(dataset, elements, *values) >= 0)
        return PHYSICS_DONE;
    free(*values);
    *values = NULL;
    return fail(PHYSICS_INPUT, "%s: dataset '%s' cannot be read (%s)", path, field->name,
                hdf5_reason());
}

/* Reads an open dataset into fields->data[id]. */
static enum physics_status read_dataset(hid_t dataset, const char *path, enum physics_field_id id,
                                        struct checks checks, struct fields *fields)
{
    const struct physics_field *field = &physics_fields[id];
    const size_t elements = physics_field_elements(field, &fields->grid);
    double *values;
    enum physics_status status = read_whole(dataset, path, field, elements, &values);
    if (!status)
        status = check_values(path, field, &fields->grid, values, elements, checks);
    if (!status)
        status = check_range(path, field, fields, values, elements, checks);
    if (!status)
        status = fields_allocate(fields, id);
    if (!status)
        store(values, elements, field->type, fields->data[id]);
    free(values);
    return status;
}

/* The field is absent: what stands in for it. */
static enum physics_status stand_in(const char *path, enum physics_field_id id,
                                    struct checks checks, struct fields *fields)
{
    const struct physics_field *field = &physics_fields[id];
    if (!field->optional)
        return fail(PHYSICS_INPUT, "%s: dataset '%s' is missing (%s, %s)", path, field->name,
                    field->long_name, field->units);
    const enum physics_status status = fields_allocate(fields, id);
    if (status)
        return status;
    double *values = fields->data[id];
    const double *source = fields->data[field->stand_in];
    const size_t elements = physics_field_elements(field, &fields->grid);
    for (size_t i = 0; i < elements; i++)
        values[i] = field->sampled ? physics_sample(i)
                    : source       ? field->stand_in_factor * source[i]
                                   : 0;
    return check_range(path, field, fields, values, elements, checks);
}

/* What cannot be looked up in a damaged file counts as there: opening it then fails. */
static bool is_there(hid_t file, const char *name)
{
    return H5Lexists(file, name, H5P_DEFAULT) != 0;
}

/* What has to be read: the wanted fields, and what stands in for those that are absent. */
static void list_datasets(hid_t file, const bool wanted[PHYSICS_FIELDS],
                          bool needed[PHYSICS_FIELDS])
{
    for (int id = 1; id < PHYSICS_FIELDS; id++) {
        const struct physics_field *field = &physics_fields[id];
        needed[id] |= wanted[id];
        if (wanted[id] && field->optional && !is_there(file, field->name))
            needed[field->stand_in] = true;
    }
    needed[PHYSICS_NO_FIELD] = false;
}

/* The lengths of x, y and z, from every dataset that will be read. An axis that none of them has
 * gets the least length. */
static enum physics_status read_grid(hid_t file, const char *path,
                                     const bool needed[PHYSICS_FIELDS], bool has_ghosts,
                                     struct physics_grid *grid)
{
    struct axes axes = {0};
    for (int id = 1; id < PHYSICS_FIELDS; id++) {
        const struct physics_field *field = &physics_fields[id];
        hid_t dataset;
        if (!needed[id] || !is_there(file, field->name))
            continue;
        enum physics_status status = open_dataset(file, path, field->name, &dataset);
        if (status)
            return status;
        const hid_t space = H5Dget_space(dataset);
        status = check_shape(space, path, field, &axes);
        H5Sclose(space);
        H5Dclose(dataset);
        if (status)
            return status;
    }
    const size_t least = has_ghosts ? PHYSICS_MIN_CELLS : 1;
    for (enum physics_axis axis = PHYSICS_X; axis <= PHYSICS_Y; axis++)
        if (axes.said_by[axis] && axes.length[axis] < least)
            return fail(PHYSICS_INPUT,
                        "%s: %zu cells along %s are too few: %d ghost cells on each side and one "
                        "between make %zu", path, axes.length[axis], physics_axis_name(axis),
                        PHYSICS_HALO, least);
    *grid = (struct physics_grid){
        axes.said_by[PHYSICS_X] ? axes.length[PHYSICS_X] : least,
        axes.said_by[PHYSICS_Y] ? axes.length[PHYSICS_Y] : least,
        axes.said_by[PHYSICS_Z] ? axes.length[PHYSICS_Z] : 1,
    };
    return PHYSICS_DONE;
}

/* All of it is held in memory, and one dataset as double on its way. */
static enum physics_status check_memory(const char *path, const bool needed[PHYSICS_FIELDS],
                                        const struct physics_grid *grid)
{
    const char *limit;
    const double available = memory_available(&limit);
    double sum = 0, passing = 0;
    for (int id = 1; id < PHYSICS_FIELDS; id++) {
        const struct physics_field *field = &physics_fields[id];
        const size_t elements = needed[id] ? physics_field_elements(field, grid) : 0;
        const double held =
            (double)elements * (double)physics_element_bytes(field->type, PHYSICS_FLOAT64);
        if (8.0 * (double)elements > available)
            return fail(PHYSICS_INPUT, "%s: dataset '%s' is too large for memory: it needs %.3g GB, "
                                       "but %s %.3g GB", path, field->name,
                        8e-9 * (double)elements, limit, available / 1e9);
        sum += held;
        passing = fmax(passing, 8.0 * (double)elements);
    }
    if (sum + passing > available)
        return fail(PHYSICS_INPUT, "%s: is too large for memory: it needs %.3g GB, but %s %.3g GB",
                    path, (sum + passing) / 1e9, limit, available / 1e9);
    return PHYSICS_DONE;
}

/* What only gave its grid, or stood in for others, is not kept. */
static void release_unwanted(struct fields *fields, const bool wanted[PHYSICS_FIELDS])
{
    for (int id = 1; id < PHYSICS_FIELDS; id++)
        if (!wanted[id]) {
            free(fields->data[id]);
            fields->data[id] = NULL;
        }
}

/* Masks and indices come first, so that ranges that count on water only can be checked. */
static enum physics_status read_fields(hid_t file, const char *path,
                                       const bool needed[PHYSICS_FIELDS], struct checks checks,
                                       struct fields *fields)
{
    for (int pass = 0; pass < 2; pass++)
        for (int id = 1; id < PHYSICS_FIELDS; id++) {
            const struct physics_field *field = &physics_fields[id];
            hid_t dataset;
            if (!needed[id] || !is_there(file, field->name) ||
                (field->type != PHYSICS_REAL) != (pass == 0))
                continue;
            enum physics_status status = open_dataset(file, path, field->name, &dataset);
            if (status)
                return status;
            status = read_dataset(dataset, path, (enum physics_field_id)id, checks, fields);
            H5Dclose(dataset);
            if (status)
                return status;
        }
    for (int id = 1; id < PHYSICS_FIELDS; id++) {
        enum physics_status status = PHYSICS_DONE;
        if (needed[id] && !fields->data[id])
            status = stand_in(path, (enum physics_field_id)id, checks, fields);
        if (status)
            return status;
    }
    return PHYSICS_DONE;
}

static enum physics_status read_everything(hid_t file, const char *path,
                                           const bool wanted[PHYSICS_FIELDS],
                                           struct checks checks, struct input *input)
{
    int halo = PHYSICS_HALO;
    int cyclic = 0;
    bool needed[PHYSICS_FIELDS] = {false};
    enum physics_status status = read_choice(file, path, "halo", "02", &halo);
    if (!status)
        status = read_choice(file, path, "cyclic_x", "01", &cyclic);
    if (!status)
        status = read_settings(file, path, input);
    if (status)
        return status;
    input->has_ghosts = halo == PHYSICS_HALO;
    input->cyclic_x = cyclic == 1;
    list_datasets(file, wanted, needed);
    status = read_grid(file, path, needed, input->has_ghosts, &input->fields.grid);
    if (!status)
        status = check_memory(path, needed, &input->fields.grid);
    if (!status)
        status = read_fields(file, path, needed, checks, &input->fields);
    release_unwanted(&input->fields, wanted);
    return status;
}

enum physics_status read_input(const char *path, const bool wanted[PHYSICS_FIELDS],
                               struct checks checks, struct input *input)
{
    hid_t file;
    *input = (struct input){0};
    guard_start(path);
    enum physics_status status = open_file(path, &file);
    if (!status) {
        status = read_everything(file, path, wanted, checks, input);
        H5Fclose(file);
    }
    guard_end();
    if (status)
        fields_release(&input->fields);
    return status;
}

/* A tolerance of the dataset, or the default where it has none. */
static enum physics_status read_tolerance(hid_t dataset, const char *path, const char *name,
                                          enum physics_precision precision, double otherwise,
                                          double *tolerance)
{
    char attribute[32];
    bool found;
    snprintf(attribute, sizeof(attribute), "%s%s", name,
             precision == PHYSICS_FLOAT32 ? "_float32" : "");
    *tolerance = otherwise;
    const enum physics_status status =
        read_attribute(dataset, path, attribute, &found, tolerance);
    if (!status && !(*tolerance >= 0 && isfinite(*tolerance)))
        return fail(PHYSICS_INPUT, "%s: attribute '%s' is %g, but a tolerance is at least 0", path,
                    attribute, *tolerance);
    return status;
}

static double largest_magnitude(const double *values, size_t elements)
{
    double largest = 0;
    for (size_t i = 0; i < elements; i++)
        if (isfinite(values[i]) && fabs(values[i]) > largest)
            largest = fabs(values[i]);
    return largest;
}

static enum physics_status read_reference_dataset(hid_t dataset, const char *path,
                                                  enum physics_field_id id,
                                                  const struct physics_grid *grid,
                                                  enum physics_precision precision,
                                                  struct reference *reference)
{
    const struct physics_field *field = &physics_fields[id];
    const size_t elements = physics_field_elements(field, grid);
    struct axes axes = {0};
    for (int axis = PHYSICS_X; axis < PHYSICS_AXES; axis++) {
        axes.length[axis] = physics_axis_length((enum physics_axis)axis, grid);
        axes.said_by[axis] = "the input";
    }
    const hid_t space = H5Dget_space(dataset);
    enum physics_status status = check_shape(space, path, field, &axes);
    H5Sclose(space);
    if (!status)
        status = read_whole(dataset, path, field, elements, &reference->values);
    if (status)
        return status;
    const bool wide = precision == PHYSICS_FLOAT64;
    const double largest = largest_magnitude(reference->values, elements);
    status = read_tolerance(dataset, path, "rtol", precision, wide ? 1e-10 : 1e-4,
                            &reference->rtol);
    if (!status)
        status = read_tolerance(dataset, path, "atol", precision,
                                (wide ? 1e-12 : 1e-5) * largest, &reference->atol);
    return status;
}

static enum physics_status find_reference(hid_t file, const char *path, enum physics_field_id id,
                                          const struct physics_grid *grid,
                                          enum physics_precision precision,
                                          struct reference *reference)
{
    const char *const name = physics_fields[id].name;
    hid_t dataset;
    if (!is_there(file, name))
        return fail(PHYSICS_INPUT, "%s: dataset '%s' is missing, so it cannot be validated", path,
                    name);
    enum physics_status status = open_dataset(file, path, name, &dataset);
    if (status)
        return status;
    status = read_reference_dataset(dataset, path, id, grid, precision, reference);
    H5Dclose(dataset);
    return status;
}

enum physics_status read_reference(const char *path, enum physics_field_id id,
                                   const struct physics_grid *grid,
                                   enum physics_precision precision, struct reference *reference)
{
    hid_t file;
    *reference = (struct reference){0};
    guard_start(path);
    enum physics_status status = open_file(path, &file);
    if (!status) {
        status = find_reference(file, path, id, grid, precision, reference);
        H5Fclose(file);
    }
    guard_end();
    if (status) {
        free(reference->values);
        reference->values = NULL;
    }
    return status;
}
