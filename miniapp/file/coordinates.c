#include "hdf5_file.h"
#include "owned.h"

#include <hdf5_hl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* netCDF-4 puts this before a name that a dimension shares with a variable that is not its
 * coordinate. */
static const char prefix[] = "_nc4_non_coord_";

/* netCDF-4 writes scales for dimensions without coordinates, too. */
static bool has_coordinates(hid_t scale)
{
    char name[TEXT_ATTRIBUTE];
    return !strstr(read_text_attribute(scale, "NAME", name), "not a netCDF variable");
}

void name_of_dimension(const char *scale, char name[AXIS_NAME])
{
    const char *const own = basename(scale);
    const bool is_prefixed = strncmp(own, prefix, strlen(prefix)) == 0;
    snprintf(name, AXIS_NAME, "%s", own + (is_prefixed ? strlen(prefix) : 0));
}

/* ---- finding scales ---- */

/* An element of REFERENCE_LIST, the attribute in which a scale lists the axes that it belongs
 * to. */
struct belonging {
    hobj_ref_t dataset;
    int axis;
};

enum { MOST_BELONGINGS = 1 << 16 };

/* The list, which the caller frees; NULL if there is none. */
static struct belonging *read_belongings(hid_t scale, hssize_t *count)
{
    CLOSED_ATTRIBUTE const struct attribute attribute = open_attribute(scale, "REFERENCE_LIST");
    CLOSED const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(struct belonging));
    const bool is_list = attribute.count > 0 && attribute.count <= MOST_BELONGINGS;
    struct belonging *list = is_list ? calloc((size_t)attribute.count, sizeof(*list)) : NULL;
    *count = attribute.count;
    H5Tinsert(type, "dataset", HOFFSET(struct belonging, dataset), H5T_STD_REF_OBJ);
    H5Tinsert(type, "dimension", HOFFSET(struct belonging, axis), H5T_NATIVE_INT);
    if (list && H5Aread(attribute.self, type, list) < 0) {
        free(list);
        list = NULL;
    }
    return list;
}

struct search {
    struct belonging wanted;
    char *name;
};

/* Ends the search at the scale that is wanted. */
static herr_t look_at_scale(hid_t root, const char *name, const H5L_info_t *link, void *context)
{
    const struct search *const search = context;
    if (link->type != H5L_TYPE_HARD || strlen(name) >= AXIS_NAME ||
        H5Aexists_by_name(root, name, "REFERENCE_LIST", H5P_DEFAULT) <= 0)
        return 0;
    hssize_t count;
    CLOSED const hid_t scale = H5Oopen(root, name, H5P_DEFAULT);
    OWNED struct belonging *const list = scale >= 0 ? read_belongings(scale, &count) : NULL;
    bool is_it = false;
    for (hssize_t i = 0; list && i < count && !is_it; i++)
        is_it = list[i].dataset == search->wanted.dataset && list[i].axis == search->wanted.axis;
    if (is_it)
        snprintf(search->name, AXIS_NAME, "%s", name);
    return is_it;
}

void find_scale(hid_t file, const char *dataset, int axis, char name[AXIS_NAME])
{
    struct search search = {.wanted.axis = axis, .name = name};
    if (H5Rcreate(&search.wanted.dataset, file, dataset, H5R_OBJECT, -1) >= 0)
        H5Literate(file, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, look_at_scale, &search);
}

/* ---- copying them ---- */

static bool has_numbers(hid_t dataset, hsize_t cells)
{
    hsize_t length = 0;
    CLOSED const hid_t space = H5Dget_space(dataset);
    CLOSED const hid_t type = H5Dget_type(dataset);
    const H5T_class_t class = H5Tget_class(type);
    return H5Sget_simple_extent_ndims(space) == 1 &&
           H5Sget_simple_extent_dims(space, &length, NULL) == 1 && length == cells &&
           (class == H5T_INTEGER || class == H5T_FLOAT);
}

bool is_coordinate(hid_t file, const char *path, hsize_t cells)
{
    CLOSED const hid_t scale = H5Dopen2(file, path, H5P_DEFAULT);
    return scale >= 0 && has_coordinates(scale) && has_numbers(scale, cells) && !odd_storage(scale);
}

bool copy_description(hid_t from, hid_t to)
{
    static const char *const names[] = {"title",   "institution", "source",
                                        "history", "references",  "comment"};
    char text[1 << 15];
    bool is_done = true;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names) && is_done; i++)
        if (H5Aexists(from, names[i]) > 0 && find_text(from, names[i], sizeof(text), text) > 0)
            is_done = H5LTset_attribute_string(to, ".", names[i], text) >= 0;
    return is_done;
}

bool copy_coordinate(hid_t from, const char *path, hid_t to, const char *name)
{
    static const char *const of_the_file[] = {"REFERENCE_LIST", "DIMENSION_LIST", "_Netcdf4Dimid",
                                              "_Netcdf4Coordinates"};
    if (H5Ocopy(from, path, to, name, H5P_DEFAULT, H5P_DEFAULT) < 0)
        return false;
    CLOSED const hid_t copy = H5Dopen2(to, name, H5P_DEFAULT);
    bool is_done = copy >= 0;
    for (size_t i = 0; i < sizeof(of_the_file) / sizeof(*of_the_file) && is_done; i++)
        if (H5Aexists(copy, of_the_file[i]) > 0)
            is_done = H5Adelete(copy, of_the_file[i]) >= 0;
    if (is_done && H5DSis_scale(copy) <= 0)
        is_done = H5DSset_scale(copy, name) >= 0;
    return is_done;
}

bool can_be_copied(hid_t from, const char *path)
{
    CLOSED const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(access, 1 << 16, false);
    const hid_t memory = H5Fcreate("memory", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    const bool can = memory >= 0 && copy_coordinate(from, path, memory, "copy");
    if (memory >= 0)
        H5Fclose(memory);
    return can;
}
