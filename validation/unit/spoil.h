/* Damage to a file that a test has written. */
#ifndef SPOIL_H
#define SPOIL_H

#include "invented.h"

#include <hdf5.h>

/* Gives a stored field another value at a place along its axes, as the file has them. */
static inline void spoil(const char *path, const char *name, int rank, const hsize_t *at,
                         double value)
{
    const hsize_t one[H5S_MAX_RANK] = {1, 1, 1, 1, 1};
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    const hid_t there = H5Dget_space(dataset), here = H5Screate_simple(rank, one, NULL);
    assert_true(H5Sselect_hyperslab(there, H5S_SELECT_SET, at, NULL, one, NULL) >= 0);
    assert_true(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, here, there, H5P_DEFAULT, &value) >= 0);
    H5Sclose(here);
    H5Sclose(there);
    H5Dclose(dataset);
    H5Fclose(file);
}

#endif
