/* Reading HDF5: what inputs and references have in common. */
#ifndef HDF5_FILE_H
#define HDF5_FILE_H

#include "table.h"

#include <hdf5.h>
#include <miniapp/status.h>

/* A regular file; MINIAPP_INPUT where it is none of HDF5, or damaged. */
enum miniapp_status open_file(const char *path, hid_t *file);

/* A numeric scalar attribute. `found` says whether it is there. */
enum miniapp_status read_attribute(hid_t object, const char *path, const char *name, bool *found,
                                   double *value);

/* Whether there is a dataset of that name. What cannot be looked up in a damaged file counts as
 * there: opening it then fails. */
bool has_dataset(hid_t file, const char *name);

/* An open dataset of a real number type; an enumeration counts, since that is how h5py stores
 * booleans. */
enum miniapp_status open_dataset(hid_t file, const char *path, const char *name, hid_t *dataset);

/* The axes' lengths as the datasets read so far have them, and which one said so. */
struct axes {
    size_t length[MINIAPP_AXES];
    const char *said_by[MINIAPP_AXES];
};

/* Whether a dataset has the axes of a field, with lengths that agree with what is known. */
enum miniapp_status check_shape(hid_t dataset, const char *path, const struct miniapp_field *field,
                                struct axes *axes);

/* The whole of an open dataset as double, which the caller frees. */
enum miniapp_status read_whole(hid_t dataset, const char *path, const struct miniapp_field *field,
                               size_t elements, double **values);

/* "salt[3, 0, 17]", an element by its index along each axis; valid until the next call. */
const char *element_name(const struct miniapp_field *field, const struct miniapp_grid *grid,
                         size_t element);

#endif
