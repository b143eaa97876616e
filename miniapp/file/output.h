/* An output that is open, for the files that write it. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "hdf5_file.h"
#include "program.h"
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
bool write_names(hid_t dataset, const struct miniapp_field *field, bool at_surface);

/* ---- snapshot.c, for snapshot_load.c, too ---- */

enum { SNAPSHOT_RANK = 4 };
#define STEP_NAME "itt" /* Veros's number of a step */

/* Room for a level: a plane with ghosts, and the interiors of a field and of its mask, which is 1
 * if the field has none. */
struct levels_of {
    double *plane, *values, *mask;
};

enum miniapp_status make_levels(const struct miniapp_grid *grid, struct levels_of *level);

/* The mask of a field; NULL if it has none. */
const struct miniapp_field *mask_for(const struct miniapp_field *field);

/* The levels of a field; one that has no depth is a level. */
size_t level_count(const struct miniapp_field *field, const struct miniapp_grid *grid);

/* The axes of a field's dataset: Time, and those of the field. Returns how many. */
int lengths_in_snapshot(const struct miniapp_field *field, const struct miniapp_grid *inner,
                        hsize_t lengths[SNAPSHOT_RANK]);

/* The part of a dataset that is level z of an interior which begins at cell (x0, y0). */
struct box box_of_level(const struct miniapp_field *field, size_t z, size_t x0, size_t y0,
                        const struct miniapp_grid *inner);

#endif
