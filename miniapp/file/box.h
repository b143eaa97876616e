/* A part of a dataset, along its own dimensions. */
#ifndef BOX_H
#define BOX_H

#include <hdf5.h>

struct box {
    int rank;
    hsize_t first[H5S_MAX_RANK], count[H5S_MAX_RANK];
};

#endif
