/* HDF5 is parallel. */
#include "mpi_io.h"

#include <mpi.h>

bool mpi_io_is_there(void)
{
    return true;
}

/* The file is the same on all processes, and so is what they do with its metadata. */
void mpi_io_of_file(hid_t access)
{
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_all_coll_metadata_ops(access, true);
    H5Pset_coll_metadata_write(access, true);
}

void mpi_io_of_data(hid_t transfer)
{
    H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
    H5Pset_dxpl_mpio_collective_opt(transfer, H5FD_MPIO_INDIVIDUAL_IO);
}
