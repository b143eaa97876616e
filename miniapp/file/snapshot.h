/* Declarations that the writer of snapshots and their reader share. */
#ifndef SNAPSHOT_H
#define SNAPSHOT_H

#include "hdf5_file.h"
#include "program.h"

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
