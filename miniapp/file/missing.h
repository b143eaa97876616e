/* Data that are not there: HDF5 reads zeros in their place. */
#ifndef MISSING_H
#define MISSING_H

#include "outside.h"

#include <hdf5.h>
#include <miniapp/status.h>

/* A part of a dataset, along its own dimensions. */
struct box {
    int rank;
    hsize_t first[H5S_MAX_RANK], count[H5S_MAX_RANK];
};

/* Whether a part of a dataset was written, or its writer said by a fill value what stands where it
 * was not: chunks, external raw data, and what a virtual dataset shows. MINIAPP_INPUT, with the
 * first index that lacks data. */
enum miniapp_status check_written(hid_t dataset, const char *path, const char *name,
                                  const struct box *box, struct outside *outside);

#endif
