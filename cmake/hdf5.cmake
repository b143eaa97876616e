# HDF5: with MPI, preferably one that was built with the same MPI, so that processes write a file
# together; otherwise the serial one. The first word that HDF5's compiler wrapper shows is the
# compiler of its MPI.

function(find_parallel_wrapper variable)
  set(${variable} "" PARENT_SCOPE)
  if(NOT MINIAPP_MPI OR NOT MPI_C_COMPILER OR MINIAPP_PARALLEL_HDF5 STREQUAL "OFF")
    return()
  endif()
  file(REAL_PATH "${MPI_C_COMPILER}" own)
  foreach(name h5pcc${MPI_EXECUTABLE_SUFFIX} h5pcc h5pcc.openmpi h5pcc.mpich)
    unset(wrapper)
    unset(compiler)
    find_program(wrapper ${name} HINTS ${HDF5_ROOT} PATH_SUFFIXES bin NO_CACHE)
    if(wrapper)
      execute_process(COMMAND ${wrapper} -show OUTPUT_VARIABLE line ERROR_QUIET)
      string(REGEX MATCH "^[^ \n]+" word "${line}")
      find_program(compiler "${word}" NO_CACHE)
    endif()
    if(compiler)
      file(REAL_PATH "${compiler}" theirs)
      if(theirs STREQUAL own)
        set(${variable} ${wrapper} PARENT_SCOPE)
        return()
      endif()
    endif()
  endforeach()
endfunction()

set(MINIAPP_PARALLEL_HDF5 "AUTO" CACHE STRING
  "Take an HDF5 that was built with the same MPI: AUTO where there is one, ON or OFF")
set_property(CACHE MINIAPP_PARALLEL_HDF5 PROPERTY STRINGS AUTO ON OFF)
find_parallel_wrapper(wrapper)
if(NOT "${MINIAPP_HDF5_WRAPPER}" STREQUAL "${wrapper}") # what was found before is of another HDF5
  foreach(name C_COMPILER_EXECUTABLE C_LIBRARY_hdf5 C_LIBRARY_hdf5_hl)
    unset(HDF5_${name} CACHE)
  endforeach()
endif()
set(MINIAPP_HDF5_WRAPPER "${wrapper}" CACHE INTERNAL "")
if(wrapper)
  set(HDF5_PREFER_PARALLEL TRUE)
  set(HDF5_C_COMPILER_EXECUTABLE ${wrapper} CACHE FILEPATH "HDF5's wrapper of a compiler")
endif()

find_package(HDF5 1.10.7 COMPONENTS C HL) # the first that can open a file without locking it
set(hdf5_kind "serial")
if(wrapper AND HDF5_IS_PARALLEL)
  set(hdf5_kind "parallel")
  list(APPEND HDF5_INCLUDE_DIRS ${MPI_C_INCLUDE_DIRS}) # hdf5.h includes mpi.h then
endif()
