#include "hdf5_file.h"
#include "hdf5_error.h"
#include "same_file.h"
#include "status.h"
#include "virtual.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* netCDF's formats before netCDF-4 are not HDF5. */
static bool is_netcdf_classic(const char *path)
{
    char magic[4] = "";
    FILE *const file = fopen(path, "rb");
    if (!file)
        return false;
    const bool is_read = fread(magic, 1, sizeof(magic), file) == sizeof(magic);
    fclose(file);
    return is_read && memcmp(magic, "CDF", 3) == 0 && strchr("\1\2\5", magic[3]) && magic[3];
}

enum miniapp_status open_file(const char *path, hid_t *file)
{
    struct stat there;
    hdf5_start();
    if (access(path, R_OK) != 0 || stat(path, &there) != 0)
        return fail(MINIAPP_INPUT, "%s: %s", path, strerror(errno));
    if (!S_ISREG(there.st_mode)) /* opening a pipe would wait for its writer */
        return fail(MINIAPP_INPUT, "%s: not an HDF5 file, nor any regular file", path);
    if (is_netcdf_classic(path))
        return fail(MINIAPP_INPUT,
                    "%s: a netCDF classic file: convert it by 'nccopy -k nc4 %s "
                    "NEW.nc'",
                    path, path);
    *file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (*file < 0)
        return fail(MINIAPP_INPUT, "%s: not an HDF5 file, or a damaged one (%s)", path,
                    hdf5_reason());
    return MINIAPP_DONE;
}

enum miniapp_status look_at(const char *path, struct stat *found)
{
    return stat(path, found) == 0 ? MINIAPP_DONE
                                  : fail(MINIAPP_INPUT, "%s: %s", path, strerror(errno));
}

enum miniapp_status check_unchanged(const char *path, const struct stat *found)
{
    struct stat now;
    const enum miniapp_status status = look_at(path, &now);
    const bool is_same = !status && is_same_file(found, &now) && found->st_size == now.st_size &&
                         found->st_mtim.tv_sec == now.st_mtim.tv_sec &&
                         found->st_mtim.tv_nsec == now.st_mtim.tv_nsec;
    return status || is_same ? status
                             : fail(MINIAPP_INPUT, "%s: the file was changed during the run", path);
}

void close_attribute(hid_t attribute, hid_t type, hid_t space)
{
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    if (attribute >= 0)
        H5Aclose(attribute);
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
    close_attribute(attribute, type, space);
    return status;
}

/* The text of an attribute, which H5free_memory frees; NULL if it is empty, or cannot be read. */
static herr_t read_text(hid_t attribute, hid_t type, char **text)
{
    const size_t size = H5Tget_size(type);
    if (H5Tis_variable_str(type) > 0)
        return H5Aread(attribute, type, text);
    *text = H5allocate_memory(size + 1, true);
    return *text ? H5Aread(attribute, type, *text) : -1;
}

htri_t find_text(hid_t object, const char *name, size_t size, char *text)
{
    const htri_t exists = H5Aexists(object, name);
    char *found = NULL;
    text[0] = '\0';
    if (exists <= 0)
        return exists == 0 ? 1 : -1;
    const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    const hid_t type = attribute >= 0 ? H5Aget_type(attribute) : -1;
    const hid_t space = attribute >= 0 ? H5Aget_space(attribute) : -1;
    const hssize_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
    htri_t is_text = type < 0 || count < 0 ? -1 : count <= 1 && H5Tget_class(type) == H5T_STRING;
    if (is_text > 0 && count == 1 && read_text(attribute, type, &found) < 0)
        is_text = -1;
    if (is_text > 0 && found && strlen(found) >= size)
        is_text = 0;
    if (is_text > 0 && found)
        memcpy(text, found, strlen(found) + 1);
    H5free_memory(found);
    close_attribute(attribute, type, space);
    return is_text;
}

const char *read_text_attribute(hid_t object, const char *name, char text[TEXT_ATTRIBUTE])
{
    find_text(object, name, TEXT_ATTRIBUTE, text);
    return text;
}

enum miniapp_status read_text_of(hid_t dataset, const char *path, const char *dataset_name,
                                 const char *name, char text[TEXT_ATTRIBUTE])
{
    const htri_t is_text = find_text(dataset, name, TEXT_ATTRIBUTE, text);
    if (is_text < 0)
        return fail(MINIAPP_INPUT, "%s: attribute '%s' of dataset '%s' cannot be read (%s)", path,
                    name, dataset_name, hdf5_reason());
    return is_text > 0
               ? MINIAPP_DONE
               : fail(
                     MINIAPP_INPUT,
                     "%s: attribute '%s' of dataset '%s' must be a single text of at most %d bytes",
                     path, name, dataset_name, TEXT_ATTRIBUTE - 1);
}

bool has_dataset(hid_t file, const char *name, const struct outside *outside)
{
    return H5Lexists(file, name, outside->access) != 0;
}

char *name_of_two(const char *sequence, const char *field)
{
    const size_t size = strlen(sequence) + strlen(field) + sizeof(".");
    char *const name = malloc(size);
    if (name)
        snprintf(name, size, "%s.%s", sequence, field);
    return name;
}

enum miniapp_status open_dataset(hid_t file, const char *path, const char *name,
                                 struct outside *outside, hid_t *dataset)
{
    outside->refusal[0] = '\0';
    *dataset = H5Dopen2(file, name, outside->access);
    if (*dataset < 0)
        return fail(MINIAPP_INPUT, "%s: dataset '%s' cannot be opened (%s)", path, name,
                    outside->refusal[0] ? outside->refusal : hdf5_reason());
    const hid_t type = H5Dget_type(*dataset);
    const H5T_class_t class = H5Tget_class(type);
    H5Tclose(type);
    enum miniapp_status status = MINIAPP_DONE;
    if (class != H5T_INTEGER && class != H5T_FLOAT && class != H5T_ENUM)
        status = fail(MINIAPP_INPUT, "%s: dataset '%s' must hold numbers", path, name);
    else
        status = check_sources(*dataset, path, name, outside);
    if (status)
        H5Dclose(*dataset);
    return status;
}

const char *element_name(const char *field_name, const struct miniapp_field *field,
                         const struct miniapp_grid *grid, size_t element)
{
    static char name[256];
    size_t index[MINIAPP_MAX_RANK];
    const int rank = miniapp_field_rank(field);
    for (int i = rank - 1; i >= 0; i--) {
        const size_t length = miniapp_axis_length(field->axes[i], grid);
        index[i] = element % length;
        element /= length;
    }
    int used = snprintf(name, sizeof(name), "%.160s", field_name);
    for (int i = 0; i < rank; i++)
        used +=
            snprintf(name + used, sizeof(name) - (size_t)used, "%s%zu", i ? ", " : "[", index[i]);
    snprintf(name + used, sizeof(name) - (size_t)used, "%s", rank ? "]" : "");
    return name;
}
