#include "parts.h"
#include "guard.h"

#include <math.h>
#include <stdbool.h>

/* The most in a part. The chunks of a virtual dataset are not known: each element might be one. */
enum { MOST_CHUNKS = 1024, MOST_ELEMENTS = 1 << 16 };

/* ---- chunks ---- */

/* The bytes of a chunk, and of all chunks; false if the dataset is not in chunks. */
static bool measure_chunks(hid_t dataset, hid_t creation, double *chunk, double *all)
{
    hsize_t lengths[H5S_MAX_RANK], extent[H5S_MAX_RANK];
    const hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
    const int rank = H5Sget_simple_extent_dims(space, extent, NULL);
    const bool is_chunked = H5Pget_layout(creation) == H5D_CHUNKED &&
                            H5Pget_chunk(creation, H5S_MAX_RANK, lengths) == rank;
    *chunk = *all = (double)H5Tget_size(type);
    for (int i = 0; i < rank && is_chunked; i++) {
        *chunk *= (double)lengths[i];
        *all *= ceil((double)extent[i] / (double)lengths[i]) * (double)lengths[i];
    }
    H5Sclose(space);
    H5Tclose(type);
    return is_chunked;
}

double bytes_of_chunks(hid_t dataset)
{
    const hid_t creation = H5Dget_create_plist(dataset), access = H5Dget_access_plist(dataset);
    size_t slots, cache = 0;
    double chunk, all, bytes = 0, unused;
    H5Pget_chunk_cache(access, &slots, &cache, &unused);
    if (measure_chunks(dataset, creation, &chunk, &all)) {
        bytes = fmax(chunk, fmin(all, (double)cache)); /* HDF5 keeps no larger chunks */
        bytes += H5Pget_nfilters(creation) > 0 ? chunk : 0;
    }
    H5Pclose(access);
    H5Pclose(creation);
    return bytes;
}

/* The lengths of the least that is read at once, such as a chunk; returns how many of these a part
 * may have. */
static hsize_t find_chunk(hid_t dataset, const struct box *box, hsize_t *chunk)
{
    const hid_t creation = H5Dget_create_plist(dataset);
    const H5D_layout_t layout = creation >= 0 ? H5Pget_layout(creation) : H5D_LAYOUT_ERROR;
    for (int i = 0; i < box->rank; i++)
        chunk[i] = layout == H5D_VIRTUAL ? 1 : box->count[i];
    if (layout == H5D_CHUNKED)
        H5Pget_chunk(creation, box->rank, chunk);
    for (int i = 0; i < box->rank; i++)
        chunk[i] += chunk[i] == 0; /* in a damaged file */
    if (creation >= 0)
        H5Pclose(creation);
    return layout == H5D_VIRTUAL ? MOST_ELEMENTS : MOST_CHUNKS;
}

/* ---- parts ---- */

struct parts {
    hsize_t chunk[H5S_MAX_RANK];  /* the least that is read at once */
    hsize_t length[H5S_MAX_RANK]; /* of each but the last along a dimension */
    hsize_t chunks;               /* in each */
};

static struct parts find_parts(hid_t dataset, const struct box *box)
{
    struct parts parts = {.chunks = 1};
    const hsize_t most = find_chunk(dataset, box, parts.chunk);
    for (int i = box->rank - 1; i >= 0; i--) {
        const hsize_t least = parts.chunk[i];
        const hsize_t there = (box->count[i] + least - 1) / least;
        const hsize_t left = most / parts.chunks;
        const hsize_t taken = there <= left ? there : left;
        parts.length[i] = taken * least;
        parts.chunks = there <= left ? parts.chunks * there : most; /* then 1 along all others */
    }
    return parts;
}

static herr_t read_part(hid_t dataset, hid_t type, const struct box *box, const hsize_t *at,
                        const struct parts *parts, void *values)
{
    hsize_t first[H5S_MAX_RANK], count[H5S_MAX_RANK], bytes = H5Tget_size(type);
    for (int i = 0; i < box->rank; i++) {
        const hsize_t left = box->count[i] - at[i];
        first[i] = box->first[i] + at[i];
        count[i] = left < parts->length[i] ? left : parts->length[i];
        const hsize_t chunk = parts->chunk[i], last = first[i] + count[i] - 1;
        bytes *= (last / chunk - first[i] / chunk + 1) * chunk; /* whole chunks are unpacked */
    }
    const hid_t from = H5Dget_space(dataset);
    const hid_t to = H5Screate_simple(box->rank, box->count, NULL);
    guard_data(bytes, parts->chunks);
    herr_t error = H5Sselect_hyperslab(from, H5S_SELECT_SET, first, NULL, count, NULL);
    if (error >= 0)
        error = H5Sselect_hyperslab(to, H5S_SELECT_SET, at, NULL, count, NULL);
    if (error >= 0)
        error = H5Dread(dataset, type, to, from, H5P_DEFAULT, values);
    H5Sclose(to);
    H5Sclose(from);
    return error;
}

/* Moves on to the corner of the next part; false after the last. */
static bool go_on(const struct box *box, const struct parts *parts, hsize_t *at)
{
    for (int i = box->rank - 1; i >= 0; i--) {
        at[i] += parts->length[i];
        if (at[i] < box->count[i])
            return true;
        at[i] = 0;
    }
    return false;
}

herr_t read_parts(hid_t dataset, hid_t type, const struct box *box, void *values)
{
    hsize_t at[H5S_MAX_RANK] = {0}, bytes = H5Tget_size(type);
    herr_t error = 0;
    if (box->rank == 0)
        return H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    const struct parts parts = find_parts(dataset, box);
    do
        error = read_part(dataset, type, box, at, &parts, values);
    while (error >= 0 && go_on(box, &parts, at));
    for (int i = 0; i < box->rank; i++)
        bytes *= box->count[i];
    guard_data(bytes, 0); /* allows for what is done with the values, too */
    return error;
}
