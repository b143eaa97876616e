#include "missing.h"
#include "guard.h"
#include "status.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

/* ---- places ---- */

enum { PLACE = 32 * 24 };

/* "3, 0, 17" */
static const char *index_text(int rank, const hsize_t *index, char text[PLACE])
{
    int used = 0;
    text[0] = '\0';
    for (int i = 0; i < rank; i++)
        used += snprintf(text + used, PLACE - (size_t)used, "%s%llu", i ? ", " : "",
                         (unsigned long long)index[i]);
    return text;
}

enum miniapp_status refuse_missing(const char *path, const char *name, int rank,
                                   const hsize_t *index, const char *why)
{
    char text[PLACE];
    return fail(MINIAPP_INPUT, "%s: %s[%s] is missing: %s", path, name,
                index_text(rank, index, text), why);
}

bool read_extent(hid_t dataset, hsize_t *length, int *rank)
{
    const hid_t space = H5Dget_space(dataset);
    *rank = space >= 0 ? H5Sget_simple_extent_dims(space, length, NULL) : -1;
    if (space >= 0)
        H5Sclose(space);
    return *rank >= 0;
}

/* ---- chunks ---- */

bool has_fill_value(hid_t creation)
{
    H5D_fill_value_t defined;
    H5D_fill_time_t when;
    return H5Pfill_value_defined(creation, &defined) >= 0 &&
           defined == H5D_FILL_VALUE_USER_DEFINED && H5Pget_fill_time(creation, &when) >= 0 &&
           when != H5D_FILL_TIME_NEVER;
}

/* Whether all chunks of the dataset exist. */
static bool has_all_chunks(hid_t dataset, int rank, const hsize_t *length, const hsize_t *chunk)
{
    hsize_t there, all = 1;
    for (int i = 0; i < rank; i++)
        all *= (length[i] + chunk[i] - 1) / chunk[i];
    return H5Dget_num_chunks(dataset, H5S_ALL, &there) >= 0 && there >= all;
}

/* Moves `corner` on to that of the next chunk in a box; false after the last. */
static bool go_on(const struct box *box, const hsize_t *chunk, hsize_t *corner)
{
    for (int i = box->rank - 1; i >= 0; i--) {
        corner[i] += chunk[i];
        if (corner[i] < box->first[i] + box->count[i])
            return true;
        corner[i] = box->first[i] / chunk[i] * chunk[i];
    }
    return false;
}

static enum miniapp_status check_chunks(hid_t dataset, const char *path, const char *name,
                                        hid_t creation, const struct box *box)
{
    hsize_t chunk[H5S_MAX_RANK], corner[H5S_MAX_RANK], length[H5S_MAX_RANK], bytes;
    int rank;
    if (has_fill_value(creation) || H5Pget_chunk(creation, H5S_MAX_RANK, chunk) != box->rank ||
        !read_extent(dataset, length, &rank))
        return MINIAPP_DONE;
    for (int i = 0; i < rank; i++)
        if (chunk[i] == 0) /* a damaged file */
            return MINIAPP_DONE;
    if (has_all_chunks(dataset, rank, length, chunk))
        return MINIAPP_DONE;
    for (int i = 0; i < rank; i++)
        corner[i] = box->first[i] / chunk[i] * chunk[i];
    do {
        guard_data(0, 1);
        bytes = 0;
        if (H5Dget_chunk_storage_size(dataset, corner, &bytes) >= 0 && bytes > 0)
            continue;
        for (int i = 0; i < rank; i++)
            corner[i] = corner[i] > box->first[i] ? corner[i] : box->first[i];
        return refuse_missing(path, name, rank, corner,
                              "it was never written, and no fill value is set");
    } while (go_on(box, chunk, corner));
    return MINIAPP_DONE;
}

/* ---- external raw data ---- */

/* The bytes of a dataset that a box needs, from `first` to before `end`; if the first axis is that
 * of records, only those of the box's records. */
static void bytes_of_box(const struct box *box, const hsize_t *length, hsize_t size, hsize_t *first,
                         hsize_t *end)
{
    hsize_t block = size;
    for (int i = 1; i < box->rank; i++)
        block *= length[i];
    *first = box->rank > 0 ? box->first[0] * block : 0;
    *end = box->rank > 0 ? *first + box->count[0] * block : block;
}

static enum miniapp_status refuse_byte(const char *path, const char *name, int rank,
                                       const hsize_t *length, hsize_t element, const char *file)
{
    hsize_t index[H5S_MAX_RANK];
    char why[PATH_MAX + 64];
    for (int i = rank - 1; i >= 0; i--) {
        index[i] = element % length[i];
        element /= length[i];
    }
    snprintf(why, sizeof(why), "the file '%s' of its raw data ends before it", file);
    return refuse_missing(path, name, rank, index, why);
}

/* How many of the wanted bytes one of the files should hold; `there` is how many bytes it has. */
static hsize_t bytes_in_file(struct outside *outside, const char *path, hid_t creation, int number,
                             hsize_t wanted, char file[PATH_MAX], hsize_t *there)
{
    char found[PATH_MAX];
    off_t offset = 0;
    hsize_t size = 0;
    struct stat state;
    file[0] = file[PATH_MAX - 1] = '\0';
    *there = 0;
    if (H5Pget_external(creation, (unsigned)number, PATH_MAX - 1, file, &offset, &size) < 0)
        return 0;
    if (!find_outside(outside, OUTSIDE_RAW, path, file, found) && stat(found, &state) == 0 &&
        state.st_size > offset)
        *there = (hsize_t)(state.st_size - offset);
    return size == H5F_UNLIMITED || size > wanted ? wanted : size;
}

static enum miniapp_status check_raw_data(hid_t dataset, const char *path, const char *name,
                                          hid_t creation, const struct box *box,
                                          struct outside *outside)
{
    hsize_t length[H5S_MAX_RANK], first, end, at = 0;
    int rank;
    const hid_t type = H5Dget_type(dataset);
    const hsize_t size = H5Tget_size(type);
    const int files = H5Pget_external_count(creation);
    char file[PATH_MAX] = "";
    H5Tclose(type);
    if (!read_extent(dataset, length, &rank) || size == 0)
        return MINIAPP_DONE;
    bytes_of_box(box, length, size, &first, &end);
    for (int i = 0; i < files && at < end; i++) {
        hsize_t there;
        const hsize_t wanted = bytes_in_file(outside, path, creation, i, end - at, file, &there);
        const hsize_t lacking = at + there > first ? at + there : first;
        if (there < wanted && lacking < at + wanted)
            return refuse_byte(path, name, rank, length, lacking / size, file);
        at += wanted;
    }
    return at >= end
               ? MINIAPP_DONE
               : refuse_byte(path, name, rank, length, (at > first ? at : first) / size, file);
}

/* ---- any layout ---- */

/* HDF5 reads zeros where nothing was ever written at all. */
static bool has_storage(hid_t dataset)
{
    H5D_space_status_t space;
    return H5Dget_space_status(dataset, &space) < 0 || space != H5D_SPACE_STATUS_NOT_ALLOCATED;
}

enum miniapp_status check_written(hid_t dataset, const char *path, const char *name,
                                  const struct box *box, struct outside *outside)
{
    enum miniapp_status status = MINIAPP_DONE;
    if (!has_storage(dataset))
        return fail(MINIAPP_INPUT, "%s: dataset '%s' was never written", path, name);
    const hid_t creation = H5Dget_create_plist(dataset);
    if (creation < 0)
        return MINIAPP_DONE;
    const H5D_layout_t layout = H5Pget_layout(creation);
    if (layout == H5D_CHUNKED)
        status = check_chunks(dataset, path, name, creation, box);
    if (layout == H5D_VIRTUAL)
        status = check_shown(dataset, path, name, creation, box, outside);
    if (H5Pget_external_count(creation) > 0)
        status = check_raw_data(dataset, path, name, creation, box, outside);
    H5Pclose(creation);
    return status;
}
