# The libraries that the program, the library and the unit tests are linked with. The summary says
# what is missing.

set(OpenMP_C_SPEC_DATE any) # which nobody asks for: to tell it, a program would be built
find_package(OpenMP COMPONENTS C)
if(MINIAPP_MPI)
  find_package(MPI COMPONENTS C)
endif()
include(cmake/hdf5.cmake)
find_package(PkgConfig)
if(PkgConfig_FOUND)
  pkg_check_modules(JANSSON IMPORTED_TARGET jansson>=2.13)
  pkg_check_modules(NETTLE IMPORTED_TARGET nettle)
  pkg_check_modules(HWLOC IMPORTED_TARGET hwloc>=2.0)
  pkg_check_modules(CMOCKA IMPORTED_TARGET cmocka)
  pkg_check_modules(LAPACKE IMPORTED_TARGET lapacke)
endif()
