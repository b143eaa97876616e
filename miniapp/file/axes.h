/* Which dimension of a dataset is which axis of a field: by the names of the dimension scales that
 * are attached to it, as netCDF-4 has them, else by the order. */
#ifndef AXES_H
#define AXES_H

#include "table.h"

#include <hdf5.h>
#include <miniapp/status.h>

/* The record of a time axis that is to be read: counted from 0, or from the end where negative. */
struct time_choice {
    bool is_chosen;
    long long index;
};

struct layout {
    int dimensions; /* of the dataset */
    hsize_t length[H5S_MAX_RANK];
    int place[MINIAPP_MAX_RANK]; /* the dimension that each axis of the field is */
    int time;                    /* the dimension that is none of them, or -1 */
    hsize_t record;              /* the place along it */
};

/* MINIAPP_INPUT where the dimensions are not the field's axes, but for an axis of time, or where
 * the record has to be chosen and is not. */
enum miniapp_status read_layout(hid_t dataset, const char *path, const char *name,
                                const struct miniapp_field *field, const struct time_choice *time,
                                struct layout *layout);

/* Whether the dimensions are in the order of the field's axes. */
bool is_in_order(const struct layout *layout, const struct miniapp_field *field);

/* The lengths of the axes as the datasets read so far have them, and which one said so. */
struct axes {
    size_t length[MINIAPP_AXES];
    const char *said_by[MINIAPP_AXES];
};

/* Whether a dataset has lengths that agree with what is known, which it is added to. */
enum miniapp_status check_shape(const struct layout *layout, const char *path, const char *name,
                                const struct miniapp_field *field, struct axes *axes);

enum { SCALE_NAME = 256 };

/* The path in the file of the scale that is attached to a dimension; "" where there is none. */
const char *scale_of(hid_t dataset, int dimension, char path[SCALE_NAME]);

/* What follows the last slash. */
const char *base_name(const char *path);

/* Whether a scale has coordinates, and is not what netCDF-4 writes for a dimension without. */
bool has_coordinates(hid_t scale);

#endif
