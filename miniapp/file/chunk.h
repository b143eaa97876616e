/* Datasets in chunks of one plane, which can be written past HDF5's own buffers. */
#ifndef CHUNK_H
#define CHUNK_H

#include "box.h"

#include <pthread.h>
#include <stdbool.h>

/* A chunk with its checksum, on its way to the file; {0} at first. */
struct chunk {
    void *bytes;
    size_t room, size;
    hid_t dataset;
    hsize_t first[H5S_MAX_RANK];
    pthread_t writer;
    bool is_under_way;
    herr_t error;
};

/* How a dataset is created: in chunks of one x-y plane, which Fletcher-32 checksums guard. */
hid_t checked_chunks(const hsize_t *lengths, int rank);

/* Whether a box is one whole chunk of a dataset that `checked_chunks` describes. */
bool is_chunk(hid_t dataset, const struct box *box);

/* Makes room for such a box and its checksum; false without memory. */
bool chunk_make_room(struct chunk *chunk, const struct box *box);

/* Starts to write the box, and returns while a thread writes it, so that the caller can make the
 * next one; below 0 if HDF5 cannot write. Nothing else may call HDF5 before chunk_finish.
 * H5Dwrite would clear a new buffer for each chunk, copy the values there, and copy them once more
 * for the checksum. */
herr_t chunk_start(struct chunk *chunk, hid_t dataset, const struct box *box, const double *values);

/* Waits for what is under way; below 0 if HDF5 could not write it. */
herr_t chunk_finish(struct chunk *chunk);

void chunk_release(struct chunk *chunk);

#endif
