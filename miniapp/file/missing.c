#include "missing.h"
#include "guard.h"
#include "status.h"
#include "virtual.h"

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

static enum miniapp_status refuse(const char *path, const char *name, int rank,
                                  const hsize_t *index, const char *why)
{
    char text[PLACE];
    return fail(MINIAPP_INPUT, "%s: %s[%s] is missing: %s", path, name,
                index_text(rank, index, text), why);
}

static bool fill_extent(hid_t dataset, hsize_t *length, int *rank)
{
    const hid_t space = H5Dget_space(dataset);
    *rank = space >= 0 ? H5Sget_simple_extent_dims(space, length, NULL) : -1;
    if (space >= 0)
        H5Sclose(space);
    return *rank >= 0;
}

/* ---- chunks ---- */

/* Whether the writer said what stands where nothing was written, and HDF5 reads that. */
static bool has_fill_value(hid_t creation)
{
    H5D_fill_value_t defined;
    H5D_fill_time_t when;
    return H5Pfill_value_defined(creation, &defined) >= 0 &&
           defined == H5D_FILL_VALUE_USER_DEFINED && H5Pget_fill_time(creation, &when) >= 0 &&
           when != H5D_FILL_TIME_NEVER;
}

/* Whether there are as many chunks as the whole dataset has. */
static bool has_all_chunks(hid_t dataset, int rank, const hsize_t *length, const hsize_t *chunk)
{
    hsize_t there, all = 1;
    for (int i = 0; i < rank; i++)
        all *= (length[i] + chunk[i] - 1) / chunk[i];
    return H5Dget_num_chunks(dataset, H5S_ALL, &there) >= 0 && there >= all;
}

/* The chunk after one in a box, by its corner; false after the last. */
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
        !fill_extent(dataset, length, &rank))
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
        return refuse(path, name, rank, corner, "it was never written, and no fill value is set");
    } while (go_on(box, chunk, corner));
    return MINIAPP_DONE;
}

/* ---- external raw data ---- */

/* The bytes of a dataset that a box needs, from `first` to `end`: of a record in front, only its.
 */
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
    snprintf(why, sizeof(why), "the file '%s' of its raw data ends before", file);
    return refuse(path, name, rank, index, why);
}

/* The bytes that one of the files holds, of those that it should. */
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
    if (!fill_extent(dataset, length, &rank) || size == 0)
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

/* ---- virtual datasets ---- */

/* A mapping's regular part of a dimension that may grow, as far as the dataset goes. */
static void cut_to_extent(int rank, const hsize_t *length, const hsize_t *start,
                          const hsize_t *stride, hsize_t *count, hsize_t *block)
{
    for (int i = 0; i < rank; i++) {
        const hsize_t left = length[i] > start[i] ? length[i] - start[i] : 0;
        if (count[i] == H5S_UNLIMITED)
            count[i] = left ? (left + stride[i] - 1) / stride[i] : 1;
        if (block[i] == H5S_UNLIMITED)
            block[i] = left ? left : 1;
    }
}

/* Takes what a mapping shows away from what nothing shows so far. */
static herr_t take_away(hid_t rest, hid_t shown, int rank, const hsize_t *length)
{
    hsize_t start[H5S_MAX_RANK], stride[H5S_MAX_RANK], count[H5S_MAX_RANK], block[H5S_MAX_RANK];
    hsize_t corners[2 * H5S_MAX_RANK];
    if (H5Sget_select_type(shown) == H5S_SEL_ALL)
        return H5Sselect_none(rest);
    if (H5Sget_select_type(shown) != H5S_SEL_HYPERSLABS)
        return -1;
    if (H5Sis_regular_hyperslab(shown) > 0) {
        if (H5Sget_regular_hyperslab(shown, start, stride, count, block) < 0)
            return -1;
        cut_to_extent(rank, length, start, stride, count, block);
        return H5Sselect_hyperslab(rest, H5S_SELECT_NOTB, start, stride, count, block);
    }
    const hssize_t blocks = H5Sget_select_hyper_nblocks(shown);
    for (hssize_t i = 0; i < blocks; i++) {
        if (H5Sget_select_hyper_blocklist(shown, (hsize_t)i, 1, corners) < 0)
            return -1;
        for (int d = 0; d < rank; d++)
            block[d] = corners[rank + d] - corners[d] + 1, count[d] = 1;
        if (H5Sselect_hyperslab(rest, H5S_SELECT_NOTB, corners, NULL, count, block) < 0)
            return -1;
    }
    return blocks < 0 ? -1 : 0;
}

static enum miniapp_status check_all_is_shown(hid_t dataset, const char *path, const char *name,
                                              hid_t creation, const struct box *box)
{
    hsize_t length[H5S_MAX_RANK], corners[2 * H5S_MAX_RANK];
    size_t count = 0;
    int rank;
    if (!fill_extent(dataset, length, &rank) || rank < 1 || has_fill_value(creation))
        return MINIAPP_DONE;
    const hid_t rest = H5Screate_simple(rank, length, NULL);
    herr_t error = H5Sselect_hyperslab(rest, H5S_SELECT_SET, box->first, NULL, box->count, NULL);
    H5Pget_virtual_count(creation, &count);
    for (size_t i = 0; i < count && error >= 0 && H5Sget_select_npoints(rest) > 0; i++) {
        const hid_t shown = H5Pget_virtual_vspace(creation, i);
        error = shown >= 0 ? take_away(rest, shown, rank, length) : -1;
        if (shown >= 0)
            H5Sclose(shown);
    }
    enum miniapp_status status = MINIAPP_DONE;
    if (error < 0)
        status = fail(MINIAPP_INPUT, "%s: dataset '%s' is virtual, but its sources cannot be read",
                      path, name);
    else if (H5Sget_select_npoints(rest) > 0 &&
             H5Sget_select_hyper_blocklist(rest, 0, 1, corners) >= 0)
        status = refuse(path, name, rank, corners,
                        "none of the sources of the virtual dataset "
                        "holds it, and no fill value is set");
    H5Sclose(rest);
    return status;
}

/* The part of a source that a mapping shows; all of it where that grows. */
static bool box_of_source(hid_t creation, size_t mapping, hid_t source, struct box *box)
{
    const hid_t space = H5Pget_virtual_srcspace(creation, mapping);
    hsize_t length[H5S_MAX_RANK], start[H5S_MAX_RANK], end[H5S_MAX_RANK];
    const bool has_bounds = space >= 0 && H5Sget_select_type(space) == H5S_SEL_HYPERSLABS &&
                            H5Sget_select_bounds(space, start, end) >= 0;
    if (space >= 0)
        H5Sclose(space);
    if (!fill_extent(source, length, &box->rank))
        return false;
    for (int i = 0; i < box->rank; i++) {
        box->first[i] = has_bounds ? start[i] : 0;
        box->count[i] =
            has_bounds && end[i] < length[i] ? end[i] + 1 - start[i] : length[i] - box->first[i];
        if (box->first[i] >= length[i])
            return false;
    }
    return true;
}

/* The blocks of a series that a box needs; of one source, the only one. */
static void find_blocks(hid_t creation, size_t mapping, const struct box *box, size_t *first,
                        size_t *end)
{
    const hid_t shown = H5Pget_virtual_vspace(creation, mapping);
    hsize_t start[H5S_MAX_RANK], stride[H5S_MAX_RANK], count[H5S_MAX_RANK], block[H5S_MAX_RANK];
    *first = 0;
    *end = 1;
    if (is_series(creation, mapping) && H5Sis_regular_hyperslab(shown) > 0 &&
        H5Sget_regular_hyperslab(shown, start, stride, count, block) >= 0)
        for (int i = 0; i < box->rank; i++)
            if (count[i] == H5S_UNLIMITED && stride[i] > 0 &&
                box->first[i] + box->count[i] > start[i]) {
                *first = box->first[i] > start[i] ? (box->first[i] - start[i]) / stride[i] : 0;
                *end = (box->first[i] + box->count[i] - 1 - start[i]) / stride[i] + 1;
            }
    if (shown >= 0)
        H5Sclose(shown);
}

/* Whether a mapping shows anything of a box, by the corners of both. */
static bool meets(hid_t creation, size_t mapping, const struct box *box)
{
    const hid_t shown = H5Pget_virtual_vspace(creation, mapping);
    hsize_t start[H5S_MAX_RANK], end[H5S_MAX_RANK];
    bool does = true;
    if (shown >= 0 && H5Sget_select_type(shown) == H5S_SEL_HYPERSLABS &&
        H5Sget_select_bounds(shown, start, end) >= 0)
        for (int i = 0; i < box->rank; i++)
            does &= start[i] < box->first[i] + box->count[i] && end[i] >= box->first[i];
    if (shown >= 0)
        H5Sclose(shown);
    return does;
}

static enum miniapp_status check_sources_written(hid_t dataset, const char *path, const char *name,
                                                 hid_t creation, const struct box *box,
                                                 struct outside *outside)
{
    enum miniapp_status status = MINIAPP_DONE;
    size_t count = 0, block, end;
    H5Pget_virtual_count(creation, &count);
    for (size_t i = 0; i < count && !status; i++) {
        if (!meets(creation, i, box))
            continue;
        for (find_blocks(creation, i, box, &block, &end); block < end && !status; block++) {
            struct source source;
            struct box part;
            status = open_source(dataset, path, name, creation, i, block, outside, &source);
            if (!status && box_of_source(creation, i, source.dataset, &part))
                status = check_written(source.dataset, source.path, source.name, &part, outside);
            close_source(&source);
        }
    }
    return status;
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
        status = check_all_is_shown(dataset, path, name, creation, box);
    if (layout == H5D_VIRTUAL && !status)
        status = check_sources_written(dataset, path, name, creation, box, outside);
    if (H5Pget_external_count(creation) > 0)
        status = check_raw_data(dataset, path, name, creation, box, outside);
    H5Pclose(creation);
    return status;
}
