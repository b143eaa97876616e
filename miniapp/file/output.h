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
    hid_t dataset;   /* of the field that is being written */
    bool is_spoilt;  /* something of it could not be written */
    bool is_in_time; /* its fields have Time, whose scale is there, before their other axes */
    bool at_surface; /* that of fields written whole, of the external mode */
    int plane_rank;  /* how many of its axes are x or y: the last ones */
    struct named_axis axes[MINIAPP_AXES];
};

/* Fails with what HDF5 gave as the reason; the file will not get its place any more. */
enum miniapp_status output_failed(struct miniapp_output *output);

/* Makes a text an attribute of an object in a file; not one that is empty, or NULL. */
bool write_text(hid_t file, const char *object, const char *name, const char *text);

/* ---- snapshot.c, for snapshot_load.c, too ---- */

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

#endif
