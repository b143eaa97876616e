/* An output that is open, for the files that write it. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "box.h"
#include "coordinates.h"
#include "replace.h"
#include "table.h"

#include <hdf5.h>

/* How an axis of some length is called, other than in the table; "" where it is not. */
struct named_axis {
    char name[AXIS_NAME];
    size_t length;
};

struct miniapp_output {
    struct place place;
    struct replacement new;
    hid_t file;
    hid_t dataset;  /* of the field that is being written */
    int plane_rank; /* how many of its axes are x or y: the last ones */
    struct named_axis axes[MINIAPP_AXES];
};

/* Fails with what HDF5 gave as the reason. */
enum miniapp_status output_failed(const struct miniapp_output *output);

/* How a file is opened for writing; and a new one, which is opened, or the one that grows already.
 */
hid_t output_access(void);
enum miniapp_status output_open_file(struct miniapp_output *output, bool is_new);

/* How a dataset is created: one x-y plane a chunk, so that Fletcher-32 guards it. */
hid_t checked_chunks(const hsize_t *lengths, int rank);

/* Writes a box of a dataset. In memory it has the same shape: HDF5 moves such a box in rows; with
 * another one, if only for axes of length 1, it looks at each element. Below 0 where it cannot. */
herr_t write_box(hid_t dataset, const struct box *box, const double *values);

/* The same of another type than double, and of another transfer. */
herr_t write_box_as(hid_t dataset, hid_t type, hid_t transfer, const struct box *box,
                    const void *values);

/* A plane of a dataset along its last axes. */
struct box box_of_plane(hid_t dataset, int plane_rank, size_t plane);

/* Writes a field's units and names. */
bool write_names(hid_t dataset, const struct miniapp_field *field);

#endif
