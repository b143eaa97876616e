#include "hdf5_file.h"
#include "guard.h"
#include "hdf5_error.h"
#include "status.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum miniapp_status open_file(const char *path, hid_t *file)
{
    struct stat there;
    hdf5_start();
    if (access(path, R_OK) != 0 || stat(path, &there) != 0)
        return fail(MINIAPP_INPUT, "%s: %s", path, strerror(errno));
    if (!S_ISREG(there.st_mode)) /* opening a pipe would wait for its writer */
        return fail(MINIAPP_INPUT, "%s: not an HDF5 file, nor any regular file", path);
    *file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (*file < 0)
        return fail(MINIAPP_INPUT, "%s: not an HDF5 file, or a damaged one (%s)", path,
                    hdf5_reason());
    return MINIAPP_DONE;
}

enum miniapp_status read_attribute(hid_t object, const char *path, const char *name, bool *found,
                                   double *value)
{
    const htri_t exists = H5Aexists(object, name);
    *found = exists > 0;
    if (exists == 0)
        return MINIAPP_DONE;
    const hid_t attribute = exists > 0 ? H5Aopen(object, name, H5P_DEFAULT) : -1;
    const hid_t type = attribute >= 0 ? H5Aget_type(attribute) : -1;
    const hid_t space = attribute >= 0 ? H5Aget_space(attribute) : -1;
    enum miniapp_status status = MINIAPP_DONE;
    if (type < 0 || space < 0)
        status = fail(MINIAPP_INPUT, "%s: attribute '%s' cannot be read (%s)", path, name,
                      hdf5_reason());
    else if (H5Tget_class(type) != H5T_INTEGER && H5Tget_class(type) != H5T_FLOAT)
        status = fail(MINIAPP_INPUT, "%s: attribute '%s' must be a number", path, name);
    else if (H5Sget_simple_extent_npoints(space) != 1)
        status = fail(MINIAPP_INPUT, "%s: attribute '%s' must be a single number", path, name);
    else if (H5Aread(attribute, H5T_NATIVE_DOUBLE, value) < 0)
        status = fail(MINIAPP_INPUT, "%s: attribute '%s' cannot be read (%s)", path, name,
                      hdf5_reason());
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    if (attribute >= 0)
        H5Aclose(attribute);
    return status;
}

bool has_dataset(hid_t file, const char *name)
{
    return H5Lexists(file, name, H5P_DEFAULT) != 0;
}

/* netCDF's packed numbers would be taken for the values. */
static enum miniapp_status check_unpacked(hid_t dataset, const char *path, const char *name)
{
    static const char *const packing[] = {"scale_factor", "add_offset"};
    for (int i = 0; i < 2; i++)
        if (H5Aexists(dataset, packing[i]) != 0)
            return fail(MINIAPP_INPUT, "%s: dataset '%s' is packed (attribute '%s'): unpack it",
                        path, name, packing[i]);
    return MINIAPP_DONE;
}

enum miniapp_status open_dataset(hid_t file, const char *path, const char *name, hid_t *dataset)
{
    *dataset = H5Dopen2(file, name, H5P_DEFAULT);
    if (*dataset < 0)
        return fail(MINIAPP_INPUT, "%s: dataset '%s' cannot be opened (%s)", path, name,
                    hdf5_reason());
    const hid_t type = H5Dget_type(*dataset);
    const H5T_class_t class = H5Tget_class(type);
    H5Tclose(type);
    enum miniapp_status status = MINIAPP_DONE;
    if (class != H5T_INTEGER && class != H5T_FLOAT && class != H5T_ENUM)
        status = fail(MINIAPP_INPUT, "%s: dataset '%s' must hold numbers", path, name);
    else
        status = check_unpacked(*dataset, path, name);
    if (status)
        H5Dclose(*dataset);
    return status;
}

static void describe_axes(const struct miniapp_field *field, char *text, size_t size)
{
    size_t used = 0;
    for (const enum miniapp_axis *axis = field->axes; *axis && used < size; axis++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                                 miniapp_axis_name(*axis));
}

enum miniapp_status check_shape(hid_t dataset, const char *path, const struct miniapp_field *field,
                                struct axes *axes)
{
    hsize_t lengths[H5S_MAX_RANK];
    char wanted[64] = "";
    describe_axes(field, wanted, sizeof(wanted));
    const hid_t space = H5Dget_space(dataset);
    const int rank = H5Sget_simple_extent_dims(space, lengths, NULL);
    H5Sclose(space);
    if (rank != miniapp_field_rank(field))
        return fail(MINIAPP_INPUT, "%s: dataset '%s' has %d axes, but must have %d: (%s)", path,
                    field->name, rank, miniapp_field_rank(field), wanted);
    for (int i = 0; i < rank; i++) {
        const enum miniapp_axis axis = field->axes[i];
        if (lengths[i] == 0 || lengths[i] > MINIAPP_MAX_CELLS)
            return fail(MINIAPP_INPUT,
                        "%s: dataset '%s' has %llu cells along %s, but must have 1 to %d", path,
                        field->name, (unsigned long long)lengths[i], miniapp_axis_name(axis),
                        MINIAPP_MAX_CELLS);
        if (!axes->said_by[axis]) {
            axes->length[axis] = (size_t)lengths[i];
            axes->said_by[axis] = field->name;
        } else if (axes->length[axis] != lengths[i]) {
            return fail(MINIAPP_INPUT,
                        "%s: dataset '%s' has %llu cells along %s, but '%s' has %zu",
                        path, field->name, (unsigned long long)lengths[i],
                        miniapp_axis_name(axis), axes->said_by[axis], axes->length[axis]);
        }
    }
    return MINIAPP_DONE;
}

/* HDF5 reads zeros where nothing was ever written. */
static bool was_written(hid_t dataset)
{
    H5D_space_status_t space;
    return H5Dget_space_status(dataset, &space) < 0 || space != H5D_SPACE_STATUS_NOT_ALLOCATED;
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

enum miniapp_status read_whole(hid_t dataset, const char *path, const struct miniapp_field *field,
                               size_t elements, double **values)
{
    *values = NULL;
    if (!was_written(dataset))
        return fail(MINIAPP_INPUT, "%s: dataset '%s' was never written", path, field->name);
    if (elements <= PTRDIFF_MAX / sizeof(**values))
        *values = malloc(elements * sizeof(**values));
    if (!*values)
        return fail(MINIAPP_INPUT, "%s: dataset '%s' is too large for this machine's memory: "
                                   "%.3g GB", path, field->name, (double)elements * 8e-9);
    if (read_values(dataset, elements, *values) >= 0)
        return MINIAPP_DONE;
    free(*values);
    *values = NULL;
    return fail(MINIAPP_INPUT, "%s: dataset '%s' cannot be read (%s)", path, field->name,
                hdf5_reason());
}

const char *element_name(const struct miniapp_field *field, const struct miniapp_grid *grid,
                         size_t element)
{
    static char name[256];
    size_t index[MINIAPP_MAX_RANK];
    const int rank = miniapp_field_rank(field);
    for (int i = rank - 1; i >= 0; i--) {
        const size_t length = miniapp_axis_length(field->axes[i], grid);
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
