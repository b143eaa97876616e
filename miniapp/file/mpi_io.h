/* Files that all processes have open together, by MPI-IO, where HDF5 is built for it. */
#ifndef MPI_IO_H
#define MPI_IO_H

#include <hdf5.h>
#include <stdbool.h>

bool mpi_io_is_there(void);

/* For a file that all processes open at once. */
void mpi_io_of_file(hid_t access);

/* For data that all processes write at once, each its own. */
void mpi_io_of_data(hid_t transfer);

#endif
