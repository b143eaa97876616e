# The libraries that the program, the library and the unit tests are linked with. What is missing,
# the summary says.

find_package(OpenMP COMPONENTS C)
find_package(HDF5 1.10.7 COMPONENTS C HL) # the first that can open a file without its own lock
if(MINIAPP_MPI)
  find_package(MPI COMPONENTS C)
endif()
find_package(PkgConfig)
if(PkgConfig_FOUND)
  pkg_check_modules(JANSSON IMPORTED_TARGET jansson)
  pkg_check_modules(NETTLE IMPORTED_TARGET nettle)
  pkg_check_modules(UDUNITS IMPORTED_TARGET udunits)
  pkg_check_modules(CMOCKA IMPORTED_TARGET cmocka)
  pkg_check_modules(LAPACKE IMPORTED_TARGET lapacke)
endif()
