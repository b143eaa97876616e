/* Datasets whose data lie elsewhere: HDF5 reads fill values for missing sources of virtual
 * datasets, and zeros for missing raw data. */
#ifndef VIRTUAL_H
#define VIRTUAL_H

#include "outside.h"

#include <hdf5.h>
#include <miniapp/status.h>

/* Whether each file and dataset that a dataset shows is there, and may be read. */
enum miniapp_status check_sources(hid_t dataset, const char *path, const char *name,
                                  struct outside *outside);

/* A source of a virtual dataset, open. */
struct source {
    hid_t file, dataset;
    char path[PATH_MAX], name[PATH_MAX];
};

/* Opens the source of a mapping; of a series, the one of a block. MINIAPP_INPUT, with a message, if
 * it cannot be opened. */
enum miniapp_status open_source(hid_t dataset, const char *path, const char *name, hid_t creation,
                                size_t mapping, size_t block, struct outside *outside,
                                struct source *source);
void close_source(struct source *source);

/* Whether a mapping names a series of sources, whose names hold the number of the block as %b. */
bool is_series(hid_t creation, size_t mapping);

#endif
