/* Filters of HDF5, which compress a dataset. Some are part of the library, others are plugins that
 * it loads. */
#ifndef FILTER_H
#define FILTER_H

#include <hdf5.h>
#include <miniapp/status.h>

/* Fails because a dataset could not be read: for lack of a filter, or for the reason that HDF5 just
 * gave. */
enum miniapp_status cannot_be_read(hid_t dataset, const char *path, const char *name);

#endif
