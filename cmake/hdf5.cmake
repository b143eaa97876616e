# HDF5, of which the program uses the serial part only.
find_package(HDF5 1.10.7 COMPONENTS C HL) # the first that can open a file without locking it
if(HDF5_IS_PARALLEL) # hdf5.h includes mpi.h then
  list(APPEND HDF5_INCLUDE_DIRS ${MPI_C_INCLUDE_DIRS})
endif()
