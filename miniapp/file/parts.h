/* Reading a dataset part by part, so that the guard can tell what is slow from what never ends. */
#ifndef PARTS_H
#define PARTS_H

#include "missing.h"

#include <hdf5.h>

/* Reads a box of a dataset, as a type of the memory. Below 0 where HDF5 cannot. */
herr_t read_parts(hid_t dataset, hid_t type, const struct box *box, void *values);

/* The bytes that HDF5 takes for chunks besides the values: for the chunks that it keeps, or for a
 * single one that is larger, and for one as it is stored, if filters have to decode it. */
double bytes_of_chunks(hid_t dataset);

#endif
