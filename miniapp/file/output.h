/* An output that is open, for the files that write it. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "box.h"
#include "chunk.h"
#include "coordinates.h"
#include "replace.h"
#include "table.h"

#include <hdf5.h>

/* The name of an axis of this length, if it is not the table's; "" if it is. */
struct named_axis {
    char name[AXIS_NAME];
    size_t length;
};

struct miniapp_output {
    struct place place;
    struct replacement new;
    hid_t file;
    hid_t dataset;  /* of the field that is being written */
    bool is_spoilt; /* something of it could not be written */
    int plane_rank; /* how many of its axes are x or y: the last ones */
    struct chunk chunk;
    struct named_axis axes[MINIAPP_AXES];
};

/* Fails with what HDF5 gave as the reason; the file will not get its place any more. */
enum miniapp_status output_failed(struct miniapp_output *output);

/* How HDF5 opens a file for writing; and opens the file, new or as it was written so far. */
hid_t output_access(void);
enum miniapp_status output_open_file(struct miniapp_output *output, bool is_new);

/* Writes a box of a dataset; below 0 if HDF5 cannot, or could not write the one before. It may be
 * under way when this returns: nothing but this function may call HDF5 before chunk_finish. The box
 * has the same shape in memory, so that HDF5 moves whole rows: for any other shape, even if it
 * differs only in axes of length 1, HDF5 looks at each element. */
herr_t write_box(struct miniapp_output *output, hid_t dataset, const struct box *box,
                 const double *values);

/* The same for another type than double, and another transfer property list. */
herr_t write_box_as(hid_t dataset, hid_t type, hid_t transfer, const struct box *box,
                    const void *values);

/* A plane of a dataset along its last axes. */
struct box box_of_plane(hid_t dataset, int plane_rank, size_t plane);

/* Writes a field's units and names. */
bool write_names(hid_t dataset, const struct miniapp_field *field);

#endif
