/* An output that is open, for the files that write it. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "coordinates.h"
#include "hdf5_file.h"
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
    struct named_axis axes[MINIAPP_AXES];
};

/* Fails with what HDF5 gave as the reason; the file will not get its place any more. */
enum miniapp_status output_failed(struct miniapp_output *output);

/* How a dataset is created: in chunks of one x-y plane, which Fletcher-32 checksums guard. */
hid_t checked_chunks(const hsize_t *lengths, int rank);

/* Writes a box of a dataset; below 0 if HDF5 cannot. The box has the same shape in memory, so that
 * HDF5 moves whole rows: for any other shape, even if it differs only in axes of length 1, HDF5
 * looks at each element. */
herr_t write_box(hid_t dataset, const struct box *box, const double *values);

/* Makes a text an attribute of an object in a file; not one that is empty, or NULL. */
bool write_text(hid_t file, const char *object, const char *name, const char *text);

/* Attaches an existing scale to an axis of a dataset. */
bool attach_named(hid_t file, const char *name, hid_t dataset, unsigned axis);

/* Writes a field's units and names. */
bool write_names(hid_t dataset, const struct miniapp_field *field);

#endif
