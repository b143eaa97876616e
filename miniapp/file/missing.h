/* Data that are not there: HDF5 reads zeros in their place. */
#ifndef MISSING_H
#define MISSING_H

#include "box.h"
#include "outside.h"

#include <hdf5.h>
#include <miniapp/status.h>

/* Checks that a part of a dataset was written, in chunks, external raw data and the sources of a
 * virtual dataset, or that its writer set a fill value for what was not. MINIAPP_INPUT, with the
 * first index that lacks data. */
enum miniapp_status check_written(hid_t dataset, const char *path, const char *name,
                                  const struct box *box, struct outside *outside);

/* ---- between missing.c and shown.c ---- */

/* The same for what a virtual dataset shows. */
enum miniapp_status check_shown(hid_t dataset, const char *path, const char *name, hid_t creation,
                                const struct box *box, struct outside *outside);

enum miniapp_status refuse_missing(const char *path, const char *name, int rank,
                                   const hsize_t *index, const char *why);

/* The lengths of a dataset. */
bool read_extent(hid_t dataset, hsize_t *length, int *rank);

/* Whether the writer set a fill value, which HDF5 reads where nothing was written. */
bool has_fill_value(hid_t creation);

#endif
