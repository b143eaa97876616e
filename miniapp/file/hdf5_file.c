#include "hdf5_file.h"
#include "format.h"
#include "replace.h"
#include "status.h"
#include "text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- HDF5's messages ---- */

static char reason[HDF5_REASON]; /* for the next hdf5_reason */
static bool has_refused;

static herr_t keep_message(unsigned level, const H5E_error2_t *error, void *unused)
{
    (void)level;
    (void)unused;
    if (error->desc && error->desc[0])
        snprintf(reason, sizeof(reason), "%s", error->desc);
    return 0;
}

/* HDF5 calls this as soon as a call fails: the clean-up after that overwrites HDF5's own record of
 * the error. */
static herr_t keep_reason(hid_t stack, void *unused)
{
    return H5Ewalk2(stack, H5E_WALK_DOWNWARD, keep_message, unused);
}

void hdf5_start(void)
{
    has_refused = false;
    H5dont_atexit();
    H5Eset_auto2(H5E_DEFAULT, keep_reason, NULL);
}

/* Where a system call failed, HDF5 tells all that it knows, with a line break after the time:
 * "file read failed: time = ..., error message = 'Is a directory', ...". */
static void shorten(char *text)
{
    static const char before[] = "error message = '";
    const char *message = strstr(text, before);
    char *details = strpbrk(text, ":,");
    if (message && details) {
        message += strlen(before);
        snprintf(details, 3, ": ");
        memmove(details + 2, message, strlen(message) + 1);
        details[2 + strcspn(details + 2, "'")] = '\0';
    }
    for (; *text; text++)
        if (iscntrl((unsigned char)*text))
            *text = ' ';
}

const char *hdf5_reason(char text[HDF5_REASON])
{
    has_refused = true;
    snprintf(text, HDF5_REASON, "%s", reason[0] ? reason : "no reason given");
    reason[0] = '\0';
    shorten(text);
    return text;
}

bool hdf5_has_refused(void)
{
    return has_refused;
}

void hdf5_close(hid_t object)
{
    if (object >= 0)
        H5Idec_ref(object);
}

/* ---- filters, which compress a dataset: some are part of HDF5, others are plugins ---- */

enum { FILTER_NAME = 80 };

/* Files seldom hold the names of filters that their writer loaded. The numbers are registered with
 * The HDF Group. */
static const struct {
    H5Z_filter_t number;
    const char *name;
} known[] = {
    {H5Z_FILTER_DEFLATE, "gzip"},
    {H5Z_FILTER_SZIP, "szip"},
    {307, "bzip2"},
    {32000, "lzf"},
    {32001, "blosc"},
    {32004, "lz4"},
    {32008, "bitshuffle"},
    {32013, "zfp"},
    {32015, "zstd"},
    {32026, "blosc2"},
};

/* Our name of a filter, else the file's, else "". */
static void name_filter(H5Z_filter_t number, char name[FILTER_NAME])
{
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (known[i].number == number)
            snprintf(name, FILTER_NAME, "%s", known[i].name);
}

/* The first filter of a dataset that can be neither found nor loaded; false where all are there. */
static bool find_missing(hid_t dataset, H5Z_filter_t *number, char name[FILTER_NAME])
{
    CLOSED const hid_t creation = H5Dget_create_plist(dataset);
    const int count = creation >= 0 ? H5Pget_nfilters(creation) : 0;
    bool is_missing = false;
    for (int i = 0; i < count && !is_missing; i++) {
        unsigned flags;
        size_t values = 0;
        name[0] = '\0';
        *number =
            H5Pget_filter2(creation, (unsigned)i, &flags, &values, NULL, FILTER_NAME, name, NULL);
        is_missing = *number >= 0 && H5Zfilter_avail(*number) <= 0;
    }
    return is_missing;
}

/* Fails because a dataset could not be read: for lack of a filter, or for the reason that HDF5 just
 * gave. */
static enum miniapp_status cannot_be_read(hid_t dataset, const char *path, const char *name)
{
    char reason[HDF5_REASON];
    hdf5_reason(reason);
    H5Z_filter_t number;
    char filter[FILTER_NAME];
    if (!find_missing(dataset, &number, filter))
        return fail(MINIAPP_INPUT, "%s: dataset '%s' cannot be read (%s)", path, name, reason);
    name_filter(number, filter);
    return fail(
        MINIAPP_INPUT,
        "%s: dataset '%s' is stored by the filter %d (%s), which this HDF5 lacks: set "
        "HDF5_PLUGIN_PATH to the folder of its plugin (Python's hdf5plugin has many), or store "
        "the data without it, by 'h5repack -f GZIP=4 %s NEW.h5' on a machine that has it",
        path, name, (int)number, filter[0] ? filter : "without a name", path);
}

/* ---- files ---- */

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

/* A remark on a reason of HDF5's that may mean something else than damage. */
static const char *remark_on(const char *reason)
{
    return strstr(reason, "version") ? "; a file of a newer HDF5 can be read after "
                                       "'h5repack --low=0 --high=2 FILE NEW.h5' there"
                                     : "";
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
        return fail(MINIAPP_INPUT, "%s: a netCDF classic file, not HDF5" TURN_INTO_INPUT, path,
                    path);
    /* If this process has it open already, HDF5 wants the same ways of locking. */
    CLOSED const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    char reason[HDF5_REASON];
    int way = 0;
    do {
        H5Pset_file_locking(access, way & 2, !(way & 1));
        *file = H5Fopen(path, H5F_ACC_RDONLY, access);
        if (*file >= 0)
            return MINIAPP_DONE;
    } while (strstr(hdf5_reason(reason), "values don't match") && ++way < 4);
    if (strstr(reason, "already open for write"))
        return fail(MINIAPP_INPUT,
                    "%s: another program is writing it, or ended without closing it: if none is, "
                    "'h5clear -s %s' makes it readable",
                    path, path);
    return fail(MINIAPP_INPUT, "%s: not an HDF5 file, or a damaged one (%s)%s", path, reason,
                remark_on(reason));
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

/* ---- attributes ---- */

struct attribute open_attribute(hid_t object, const char *name)
{
    struct attribute attribute = {-1, -1, -1, -1};
    if (H5Aexists(object, name) > 0)
        attribute.self = H5Aopen(object, name, H5P_DEFAULT);
    if (attribute.self >= 0) {
        attribute.type = H5Aget_type(attribute.self);
        attribute.space = H5Aget_space(attribute.self);
    }
    if (attribute.type >= 0 && attribute.space >= 0)
        attribute.count = H5Sget_simple_extent_npoints(attribute.space);
    return attribute;
}

void close_attribute(const struct attribute *attribute)
{
    hdf5_close(attribute->space);
    hdf5_close(attribute->type);
    hdf5_close(attribute->self);
}

/* h5py stores booleans as enumerations. */
static bool is_number(hid_t type)
{
    const H5T_class_t class = H5Tget_class(type);
    return class == H5T_INTEGER || class == H5T_FLOAT || class == H5T_ENUM;
}

enum miniapp_status read_attribute(hid_t object, const char *path, const char *name, bool *found,
                                   double *value)
{
    char reason[HDF5_REASON];
    const htri_t exists = H5Aexists(object, name);
    *found = exists > 0;
    if (exists == 0)
        return MINIAPP_DONE;
    CLOSED_ATTRIBUTE const struct attribute attribute = open_attribute(object, name);
    if (attribute.count >= 0 && !is_number(attribute.type))
        return fail(MINIAPP_INPUT, "%s: attribute '%s' must be a number", path, name);
    if (attribute.count >= 0 && attribute.count != 1)
        return fail(MINIAPP_INPUT, "%s: attribute '%s' must be a single number", path, name);
    if (attribute.count < 0 || H5Aread(attribute.self, H5T_NATIVE_DOUBLE, value) < 0)
        return fail(MINIAPP_INPUT, "%s: attribute '%s' cannot be read (%s)", path, name,
                    hdf5_reason(reason));
    return MINIAPP_DONE;
}

bool read_numbers(hid_t object, const char *name, size_t count, double *values)
{
    CLOSED_ATTRIBUTE const struct attribute attribute = open_attribute(object, name);
    return attribute.count == (hssize_t)count && is_number(attribute.type) &&
           H5Aread(attribute.self, H5T_NATIVE_DOUBLE, values) >= 0;
}

/* The text of an attribute, which H5free_memory frees; NULL if it is empty, or cannot be read. */
static herr_t read_text(const struct attribute *attribute, char **text)
{
    if (H5Tis_variable_str(attribute->type) > 0)
        return H5Aread(attribute->self, attribute->type, text);
    *text = H5allocate_memory(H5Tget_size(attribute->type) + 1, true);
    return *text ? H5Aread(attribute->self, attribute->type, *text) : -1;
}

htri_t find_text(hid_t object, const char *name, size_t size, char *text)
{
    const htri_t exists = H5Aexists(object, name);
    char *found = NULL;
    text[0] = '\0';
    if (exists <= 0)
        return exists == 0 ? 1 : -1;
    CLOSED_ATTRIBUTE const struct attribute attribute = open_attribute(object, name);
    htri_t is_text = attribute.count < 0
                         ? -1
                         : attribute.count <= 1 && H5Tget_class(attribute.type) == H5T_STRING;
    if (is_text > 0 && attribute.count == 1 && read_text(&attribute, &found) < 0)
        is_text = -1;
    if (is_text > 0 && found && strlen(found) >= size)
        is_text = 0;
    if (is_text > 0 && found)
        strcpy(text, found);
    H5free_memory(found);
    return is_text;
}

const char *read_text_attribute(hid_t object, const char *name, char text[TEXT_ATTRIBUTE])
{
    find_text(object, name, TEXT_ATTRIBUTE, text);
    return text;
}

/* ---- datasets ---- */

bool has_dataset(hid_t file, const char *name)
{
    return H5Lexists(file, name, H5P_DEFAULT) != 0;
}

char *name_of_two(const char *sequence, const char *field)
{
    char *name;
    return asprintf(&name, "%s.%s", sequence, field) < 0 ? NULL : name;
}

static bool lies_elsewhere(hid_t file, const char *name)
{
    H5L_info_t link;
    return H5Lget_info(file, name, &link, H5P_DEFAULT) >= 0 && link.type == H5L_TYPE_EXTERNAL;
}

/* The chunk's lengths, or 0 if the dataset is not in chunks. */
static int read_chunk(hid_t dataset, hsize_t *chunk)
{
    CLOSED const hid_t creation = H5Dget_create_plist(dataset);
    const bool is_chunked = creation >= 0 && H5Pget_layout(creation) == H5D_CHUNKED;
    return is_chunked ? H5Pget_chunk(creation, H5S_MAX_RANK, chunk) : 0;
}

/* Whether all chunks were written, or the whole of a dataset that is not in chunks. */
static bool is_written(hid_t dataset)
{
    hsize_t chunk[H5S_MAX_RANK], length[H5S_MAX_RANK], there, all = 1;
    H5D_space_status_t storage;
    const int rank = read_chunk(dataset, chunk);
    if (rank <= 0)
        return H5Dget_space_status(dataset, &storage) < 0 ||
               storage != H5D_SPACE_STATUS_NOT_ALLOCATED;
    CLOSED const hid_t space = H5Dget_space(dataset);
    H5Sget_simple_extent_dims(space, length, NULL);
    for (int i = 0; i < rank; i++)
        all *= chunk[i] ? (length[i] + chunk[i] - 1) / chunk[i] : 0;
    return H5Dget_num_chunks(dataset, space, &there) >= 0 && there >= all;
}

const char *odd_storage(hid_t dataset)
{
    CLOSED const hid_t creation = H5Dget_create_plist(dataset);
    if (creation >= 0 && H5Pget_layout(creation) == H5D_VIRTUAL)
        return "is virtual, parts of other datasets: 'h5repack -l CONTI' stores its numbers in one "
               "file";
    if (creation >= 0 && H5Pget_external_count(creation) > 0)
        return "has its numbers in other files: 'h5repack -l CONTI' stores them in one file";
    return NULL;
}

static bool is_packed(hid_t dataset)
{
    return H5Aexists(dataset, "scale_factor") != 0 || H5Aexists(dataset, "add_offset") != 0 ||
           H5Aexists(dataset, "_Unsigned") != 0;
}

static enum miniapp_status check_storage(hid_t dataset, const char *path, const char *name)
{
    CLOSED const hid_t type = H5Dget_type(dataset);
    if (type < 0 || !is_number(type))
        return fail(MINIAPP_INPUT, "%s: dataset '%s' must hold numbers", path, name);
    if (is_packed(dataset))
        return fail(MINIAPP_INPUT, "%s: dataset '%s' is packed" TURN_INTO_INPUT, path, name, path);
    const char *const odd = odd_storage(dataset);
    return odd ? fail(MINIAPP_INPUT, "%s: dataset '%s' %s", path, name, odd) : MINIAPP_DONE;
}

enum miniapp_status check_written(hid_t dataset, const char *path, const char *name)
{
    return is_written(dataset) ? MINIAPP_DONE
                               : fail(MINIAPP_INPUT,
                                      "%s: dataset '%s' was never written, or not all of it: HDF5 "
                                      "would read its fill value",
                                      path, name);
}

enum miniapp_status open_dataset(hid_t file, const char *path, const char *name, hid_t *dataset)
{
    *dataset = H5I_INVALID_HID;
    if (lies_elsewhere(file, name))
        return fail(MINIAPP_INPUT, "%s: dataset '%s' lies in another file" TURN_INTO_INPUT, path,
                    name, path);
    *dataset = H5Dopen2(file, name, H5P_DEFAULT);
    if (*dataset < 0) {
        char reason[HDF5_REASON];
        hdf5_reason(reason);
        return fail(MINIAPP_INPUT, "%s: dataset '%s' cannot be opened (%s)%s", path, name, reason,
                    remark_on(reason));
    }
    return check_storage(*dataset, path, name);
}

enum miniapp_status read_lengths(hid_t dataset, const char *path, const char *name,
                                 const struct miniapp_field *field, hsize_t *length,
                                 size_t *records)
{
    CLOSED const hid_t space = H5Dget_space(dataset);
    const int expected = miniapp_field_rank(field);
    const int rank = space >= 0 ? H5Sget_simple_extent_ndims(space) : -1;
    const bool may_lead = records && field->may_vary;
    const int leading = may_lead && rank == expected + 1 && H5Aexists(dataset, "period") > 0;
    hsize_t all[MINIAPP_MAX_RANK + 1] = {0};
    if (rank == expected + leading)
        H5Sget_simple_extent_dims(space, all, NULL);
    if (records)
        *records = leading ? (size_t)all[0] : 0;
    memcpy(length, all + leading, (size_t)expected * sizeof(*length));
    if (leading && all[0] == 0)
        return fail(MINIAPP_INPUT, "%s: dataset '%s' has no records", path, name);
    return rank == expected + leading
               ? MINIAPP_DONE
               : fail(MINIAPP_INPUT,
                      "%s: dataset '%s' has %d axes, but must have %d: %s%s" TURN_INTO_INPUT, path,
                      name, rank, expected, axes_text(field, (char[AXES_TEXT]){0}),
                      may_lead ? ", or, with an attribute 'period', one of records before them"
                               : "",
                      path);
}

double bytes_of_chunk(hid_t dataset)
{
    hsize_t chunk[H5S_MAX_RANK];
    const int rank = read_chunk(dataset, chunk);
    double bytes = rank > 0 ? 2 * sizeof(double) : 0; /* as stored, and unpacked */
    for (int i = 0; i < rank; i++)
        bytes *= (double)chunk[i];
    return bytes;
}

enum miniapp_status read_box(hid_t dataset, const char *path, const char *name,
                             const struct box *box, double *values)
{
    CLOSED const hid_t from = H5Dget_space(dataset);
    CLOSED const hid_t to = H5Screate_simple(box->rank, box->count, NULL);
    herr_t error = 0;
    if (box->rank > 0)
        error = H5Sselect_hyperslab(from, H5S_SELECT_SET, box->first, NULL, box->count, NULL);
    if (error >= 0)
        error = H5Dread(dataset, H5T_NATIVE_DOUBLE, to, from, H5P_DEFAULT, values);
    return error < 0 ? cannot_be_read(dataset, path, name) : MINIAPP_DONE;
}
