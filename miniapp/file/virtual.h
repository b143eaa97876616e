/* Virtual datasets: they lie in other datasets, often of other files. */
#ifndef VIRTUAL_H
#define VIRTUAL_H

#include <hdf5.h>
#include <miniapp/status.h>

/* HDF5 reads zeros where a source is missing: MINIAPP_INPUT then. */
enum miniapp_status check_sources(hid_t dataset, const char *path, const char *name);

#endif
