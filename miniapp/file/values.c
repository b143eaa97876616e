#include "values.h"
#include "filter.h"
#include "hdf5_file.h"
#include "missing.h"
#include "parts.h"
#include "status.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- packed and missing values ---- */

enum { MOST_FILLS = 16 };

/* netCDF's attributes of a dataset. Fill values are compared with what is stored. */
struct packing {
    hid_t meant; /* the type of the integers that it means, where it stores another */
    bool is_packed;
    double scale, offset;
    int fills;
    double fill[MOST_FILLS];
};

/* The type of the integers that the dataset means, where it is not the type that it stores them in:
 * an enumeration's own, or with _Unsigned the other sign, since netCDF classic has no unsigned
 * integers. H5I_INVALID_HID where HDF5 converts what is stored. They are converted in the place of
 * doubles, so they must not be larger. */
static enum miniapp_status find_meant_type(hid_t dataset, const char *path, const char *name,
                                           hid_t *meant)
{
    char text[TEXT_ATTRIBUTE] = "";
    const hid_t type = H5Dget_type(dataset);
    const H5T_class_t class = H5Tget_class(type);
    const bool is_wide = H5Tget_size(type) > sizeof(double);
    enum miniapp_status status = MINIAPP_DONE;
    if (class == H5T_ENUM && !is_wide)
        *meant = H5Tget_super(type);
    if (class == H5T_INTEGER)
        status = read_text_of(dataset, path, name, "_Unsigned", text);
    if (text[0] && is_wide)
        status = fail(MINIAPP_INPUT,
                      "%s: dataset '%s' has integers of more than 8 bytes, for which _Unsigned is "
                      "not supported",
                      path, name);
    else if (text[0]) {
        *meant = H5Tcopy(type);
        H5Tset_sign(*meant, strcasecmp(text, "true") == 0 ? H5T_SGN_NONE : H5T_SGN_2);
    }
    H5Tclose(type);
    return status;
}

/* Turns a number into what the dataset would store of it, which is what stored values are compared
 * with. False for a number that a dataset of integers cannot hold: none of its values can be equal
 * to it. */
static bool as_stored(hid_t dataset, hid_t meant, double *number)
{
    long double room[2] = {0}; /* for any type of number */
    const hid_t type = H5Dget_type(dataset);
    const double wanted = *number;
    memcpy(room, number, sizeof(*number));
    bool is_held = H5Tget_class(type) != H5T_ENUM && H5Tget_size(type) <= sizeof(room) &&
                   H5Tconvert(H5T_NATIVE_DOUBLE, type, 1, room, NULL, H5P_DEFAULT) >= 0 &&
                   H5Tconvert(type, H5T_NATIVE_DOUBLE, 1, room, NULL, H5P_DEFAULT) >= 0;
    memcpy(number, room, sizeof(*number));
    is_held = is_held && (H5Tget_class(type) == H5T_FLOAT || *number == wanted);
    if (is_held && meant >= 0) {
        is_held = H5Tconvert(H5T_NATIVE_DOUBLE, type, 1, room, NULL, H5P_DEFAULT) >= 0 &&
                  H5Tconvert(meant, H5T_NATIVE_DOUBLE, 1, room, NULL, H5P_DEFAULT) >= 0;
        memcpy(number, room, sizeof(*number));
    }
    H5Tclose(type);
    return is_held;
}

/* The numbers of an attribute, which may be several. */
static enum miniapp_status read_fills(hid_t dataset, const char *path, const char *dataset_name,
                                      const char *name, struct packing *packing)
{
    if (H5Aexists(dataset, name) == 0)
        return MINIAPP_DONE;
    double numbers[MOST_FILLS];
    const hid_t attribute = H5Aopen(dataset, name, H5P_DEFAULT);
    const hid_t type = attribute >= 0 ? H5Aget_type(attribute) : -1;
    const hid_t space = attribute >= 0 ? H5Aget_space(attribute) : -1;
    const hssize_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
    const H5T_class_t class = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
    const bool is_read = count >= 0 && count <= MOST_FILLS - packing->fills &&
                         (class == H5T_INTEGER || class == H5T_FLOAT) &&
                         H5Aread(attribute, H5T_NATIVE_DOUBLE, numbers) >= 0;
    for (hssize_t i = 0; i < count && is_read; i++)
        if (as_stored(dataset, packing->meant, &numbers[i]))
            packing->fill[packing->fills++] = numbers[i];
    close_attribute(attribute, type, space);
    return is_read ? MINIAPP_DONE
                   : fail(MINIAPP_INPUT, "%s: attribute '%s' of dataset '%s' must be a number",
                          path, name, dataset_name);
}

static enum miniapp_status read_packing(hid_t dataset, const char *path, const char *name,
                                        struct packing *packing)
{
    char where[PATH_MAX];
    bool has_scale = false, has_offset = false;
    snprintf(where, sizeof(where), "%s: dataset '%s'", path, name);
    enum miniapp_status status = find_meant_type(dataset, path, name, &packing->meant);
    if (!status)
        status = read_attribute(dataset, where, "scale_factor", &has_scale, &packing->scale);
    if (!status)
        status = read_attribute(dataset, where, "add_offset", &has_offset, &packing->offset);
    if (!status && (!isfinite(packing->scale) || packing->scale == 0 || !isfinite(packing->offset)))
        status = fail(MINIAPP_INPUT,
                      "%s: scale_factor is %g and add_offset %g, but must be finite, and "
                      "scale_factor not 0",
                      where, packing->scale, packing->offset);
    if (!status)
        status = read_fills(dataset, path, name, "_FillValue", packing);
    if (!status)
        status = read_fills(dataset, path, name, "missing_value", packing);
    packing->is_packed = has_scale || has_offset;
    return status;
}

static bool is_missing(const struct packing *packing, double stored)
{
    for (int i = 0; i < packing->fills; i++)
        if (stored == packing->fill[i] || (isnan(stored) && isnan(packing->fill[i])))
            return true;
    return false;
}

static void unpack(const struct packing *packing, double missing, double *values, size_t elements,
                   struct treatment *treatment)
{
    treatment->is_unpacked = packing->is_packed;
    if (!packing->is_packed && packing->fills == 0)
        return;
    for (size_t i = 0; i < elements; i++)
        if (is_missing(packing, values[i])) {
            values[i] = missing;
            treatment->has_missing = true;
        } else if (packing->is_packed) {
            values[i] = values[i] * packing->scale + packing->offset;
        }
}

/* ---- reading ---- */

static size_t elements_of_box(const struct box *box)
{
    size_t elements = 1;
    for (int i = 0; i < box->rank; i++)
        elements *= (size_t)box->count[i];
    return elements;
}

/* What HDF5 does not convert as it is meant is read as it is stored, and converted in place. */
static herr_t read_as_double(hid_t dataset, hid_t meant, const struct box *box, size_t elements,
                             double *values)
{
    if (meant < 0)
        return read_parts(dataset, H5T_NATIVE_DOUBLE, box, values);
    const hid_t type = H5Dget_type(dataset);
    herr_t error = read_parts(dataset, type, box, values);
    if (error >= 0)
        error = H5Tconvert(meant, H5T_NATIVE_DOUBLE, elements, values, NULL, H5P_DEFAULT);
    H5Tclose(type);
    return error;
}

/* ---- the order of axes ---- */

/* The step in the file's order from one cell to the next along each axis of the field. */
static void find_steps(const struct layout *layout, int rank, size_t *step)
{
    for (int axis = 0; axis < rank; axis++) {
        step[axis] = 1;
        for (int i = layout->place[axis] + 1; i < layout->part.rank; i++)
            step[axis] *= (size_t)layout->part.count[i];
    }
}

static void transpose(const double *from, const struct layout *layout,
                      const struct miniapp_field *field, size_t elements, double *to)
{
    const int rank = miniapp_field_rank(field);
    size_t step[MINIAPP_MAX_RANK], index[MINIAPP_MAX_RANK] = {0}, place = 0;
    find_steps(layout, rank, step);
    for (size_t i = 0; i < elements; i++) {
        to[i] = from[place];
        for (int axis = rank - 1; axis >= 0; axis--) {
            place += step[axis];
            if (++index[axis] < layout->part.count[layout->place[axis]])
                break;
            place -= index[axis] * step[axis];
            index[axis] = 0;
        }
    }
}

static enum miniapp_status order_axes(const char *path, const char *name,
                                      const struct miniapp_field *field,
                                      const struct layout *layout, size_t elements, double **values,
                                      struct treatment *treatment)
{
    if (is_in_order(layout, field))
        return MINIAPP_DONE;
    double *const ordered = malloc(elements * sizeof(*ordered));
    if (!ordered)
        return fail(MINIAPP_INPUT,
                    "%s: dataset '%s' is too large for this machine's memory to be "
                    "transposed: %.3g GB",
                    path, name, (double)elements * 8e-9);
    transpose(*values, layout, field, elements, ordered);
    free(*values);
    *values = ordered;
    treatment->is_transposed = true;
    return MINIAPP_DONE;
}

double bytes_to_read(hid_t dataset, const struct miniapp_field *field, const struct layout *layout)
{
    double bytes = sizeof(double) * (is_in_order(layout, field) ? 1 : 2);
    for (int i = 0; i < layout->part.rank; i++)
        bytes *= (double)layout->part.count[i];
    return bytes + bytes_of_chunks(dataset);
}

enum miniapp_status read_values(hid_t dataset, const char *path, const char *name,
                                const struct miniapp_field *field, const struct layout *layout,
                                struct outside *outside, double **values,
                                struct treatment *treatment)
{
    const size_t elements = elements_of_box(&layout->part);
    struct packing packing = {.meant = H5I_INVALID_HID, .scale = 1};
    struct treatment ignored;
    treatment = treatment ? treatment : &ignored;
    *treatment = (struct treatment){0};
    *values = NULL;
    enum miniapp_status status = check_written(dataset, path, name, &layout->part, outside);
    if (!status)
        status = read_packing(dataset, path, name, &packing);
    if (!status && elements <= PTRDIFF_MAX / sizeof(**values))
        *values = malloc(elements * sizeof(**values));
    if (!status && !*values)
        status =
            fail(MINIAPP_INPUT, "%s: dataset '%s' is too large for this machine's memory: %.3g GB",
                 path, name, (double)elements * 8e-9);
    if (!status && read_as_double(dataset, packing.meant, &layout->part, elements, *values) < 0)
        status = cannot_be_read(dataset, path, name);
    if (!status) {
        unpack(&packing, field->type == MINIAPP_REAL ? NAN : 0, *values, elements, treatment);
        status = order_axes(path, name, field, layout, elements, values, treatment);
    }
    if (packing.meant >= 0)
        H5Tclose(packing.meant);
    if (status) {
        free(*values);
        *values = NULL;
    }
    return status;
}

/* ---- the order of levels ---- */

static void swap(double *a, double *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const double kept = a[i];
        a[i] = b[i];
        b[i] = kept;
    }
}

static void turn_indices(double *index, size_t elements, size_t levels)
{
    for (size_t i = 0; i < elements; i++)
        if (index[i] > 0)
            index[i] = (double)levels + 1 - index[i];
}

void turn_levels(const struct miniapp_field *field, const struct miniapp_grid *grid, double *values)
{
    size_t blocks = 1, plane = 1;
    bool is_above = true; /* at an axis before z */
    for (const enum miniapp_axis *axis = field->axes; *axis; axis++) {
        if (*axis == MINIAPP_Z)
            is_above = false;
        else if (is_above)
            blocks *= miniapp_axis_length(*axis, grid);
        else
            plane *= miniapp_axis_length(*axis, grid);
    }
    if (field->counts == MINIAPP_Z)
        turn_indices(values, blocks, grid->nz);
    for (size_t block = 0; block < blocks && !is_above; block++) {
        double *const bottom = values + block * grid->nz * plane;
        for (size_t k = 0; k < grid->nz / 2; k++)
            swap(bottom + k * plane, bottom + (grid->nz - 1 - k) * plane, plane);
    }
}
