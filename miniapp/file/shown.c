/* What a virtual dataset shows of its sources, and what it does not. */
#include "missing.h"
#include "status.h"
#include "virtual.h"

#include <stdbool.h>

/* ---- what no source shows ---- */

/* Cuts a mapping that is unlimited along a dimension to the extent of the dataset. */
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

/* Takes what a mapping shows away from `rest`, which no mapping has shown so far. */
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
    if (!read_extent(dataset, length, &rank) || rank < 1 || has_fill_value(creation))
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
        status = refuse_missing(path, name, rank, corners,
                                "none of the sources of the virtual dataset "
                                "holds it, and no fill value is set");
    H5Sclose(rest);
    return status;
}

/* ---- what sources lack ---- */

/* The part of a source that a mapping shows; up to the source's end if it may grow. */
static bool box_of_source(hid_t creation, size_t mapping, hid_t source, struct box *box)
{
    const hid_t space = H5Pget_virtual_srcspace(creation, mapping);
    hsize_t length[H5S_MAX_RANK], start[H5S_MAX_RANK], end[H5S_MAX_RANK];
    const bool has_bounds = space >= 0 && H5Sget_select_type(space) == H5S_SEL_HYPERSLABS &&
                            H5Sget_select_bounds(space, start, end) >= 0;
    if (space >= 0)
        H5Sclose(space);
    if (!read_extent(source, length, &box->rank))
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

/* The blocks of a series that a box needs; for a single source, the only one. */
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

/* Whether a mapping shows anything of a box, judging by the corners of both. */
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

enum miniapp_status check_shown(hid_t dataset, const char *path, const char *name, hid_t creation,
                                const struct box *box, struct outside *outside)
{
    const enum miniapp_status status = check_all_is_shown(dataset, path, name, creation, box);
    return status ? status : check_sources_written(dataset, path, name, creation, box, outside);
}
