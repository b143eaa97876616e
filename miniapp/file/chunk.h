/* Datasets in chunks of one plane, which can be written past HDF5's own buffers. */
#ifndef CHUNK_H
#define CHUNK_H

#include "box.h"

#include <stdbool.h>

/* Room for one chunk, which grows as it is needed; {0} at first. */
struct chunk {
    void *bytes;
    size_t room;
};

/* How a dataset is created: in chunks of one x-y plane, which Fletcher-32 checksums guard. */
hid_t checked_chunks(const hsize_t *lengths, int rank);

/* Whether a box is one whole chunk of a dataset that `checked_chunks` describes. */
bool is_chunk(hid_t dataset, const struct box *box);

/* Makes room for such a box and its checksum; false without memory. */
bool chunk_make_room(struct chunk *chunk, const struct box *box);

/* Writes the box; below 0 if HDF5 cannot. H5Dwrite would clear a new buffer for each chunk, copy
 * the values there, and copy them once more for the checksum. */
herr_t write_chunk(hid_t dataset, const struct box *box, const double *values, struct chunk *chunk);

void chunk_release(struct chunk *chunk);

#endif
