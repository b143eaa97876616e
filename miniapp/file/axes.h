/* Which dimension of a dataset is which axis of a field: by the names of the dimension scales that
 * are attached to it, as netCDF-4 has them, or else by their order. The scales' own lists of
 * datasets tell what is attached, because a checksum protects them; the datasets' lists of scales
 * are in HDF5's global heap, which has none. */
#ifndef AXES_H
#define AXES_H

#include "box.h"
#include "table.h"

#include <hdf5.h>
#include <miniapp/status.h>

enum { SCALE_NAME = 256 };

/* A dimension of a dataset, and the path of the scale that is attached to it. */
struct attachment {
    hobj_ref_t dataset;
    int dimension;
    int axis; /* the axis that it is, by its scale; or 0 */
    char scale[SCALE_NAME];
};

struct scales {
    struct attachment *all;
    size_t count;
    unsigned long file; /* HDF5's number of the file that they are in */
    const char *lack;   /* why something could not be read, or NULL */
};

void read_scales(hid_t file, struct scales *scales);
void release_scales(struct scales *scales);

/* The record of a time axis that is to be read: counted from 0, or from the end where negative. */
struct time_choice {
    bool is_chosen;
    long long index;
    bool is_wrong; /* for some dataset: this is reported once */
};

struct layout {
    hsize_t length[H5S_MAX_RANK];        /* of the dataset's dimensions */
    int place[MINIAPP_MAX_RANK];         /* the dimension that each axis of the field is */
    const char *scale[MINIAPP_MAX_RANK]; /* what is attached to each, or NULL */
    int unnamed;                         /* how many axes were only found by the order */
    int time;                            /* the dimension that is none of them, or -1 */
    const char *time_scale;              /* what is attached to that, or NULL */
    hsize_t record;                      /* the chosen place along it */
    struct box part;                     /* what is read: the record, or less of it */
};

/* MINIAPP_INPUT if the dimensions, apart from one of time, are not the field's axes, or if a record
 * has to be chosen and was not. */
enum miniapp_status read_layout(hid_t dataset, const char *path, const char *name,
                                const struct miniapp_field *field, const struct scales *scales,
                                struct time_choice *time, struct layout *layout);

/* Limits what is read to so many cells of an axis, from `first` on. */
void narrow_layout(struct layout *layout, const struct miniapp_field *field, enum miniapp_axis axis,
                   size_t first, size_t count);

/* Whether the dimensions are in the order of the field's axes. */
bool is_in_order(const struct layout *layout, const struct miniapp_field *field);

/* The lengths of the axes in the datasets that were opened so far, and which dataset each is
 * from. */
struct axes {
    size_t length[MINIAPP_AXES];
    const char *said_by[MINIAPP_AXES];
    bool is_disputed[MINIAPP_AXES]; /* this is reported once */
    const char *unnamed;            /* the first dataset with several axes without names, or NULL */
    const struct miniapp_field *unnamed_field;
};

/* Checks that a dataset's lengths agree with those that are known, and adds them to these. */
enum miniapp_status check_shape(const struct layout *layout, const char *path, const char *name,
                                const struct miniapp_field *field, struct axes *axes);

/* The last part of a path in a file. */
const char *name_in_group(const char *path);

/* Whether a scale has coordinates, and is not what netCDF-4 writes for a dimension without any. */
bool has_coordinates(hid_t scale);

#endif
