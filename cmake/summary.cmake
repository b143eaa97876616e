# The table at the end of configuring: what was found, what will be built and what to install for
# the rest.

function(miniapp_row what found otherwise)
  string(SUBSTRING "${what}                                    " 0 36 label)
  if(found)
    message(STATUS "  ${label}${found}")
  else()
    message(STATUS "  ${label}missing: ${otherwise}")
  endif()
endfunction()

function(miniapp_summary)
  message(STATUS "miniapp ${PROJECT_VERSION}")
  miniapp_row("compiler" "${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}" "")
  miniapp_row("build type" "${CMAKE_BUILD_TYPE}" "")
  miniapp_row("host threads: OpenMP" "${OpenMP_C_LIBRARIES}" "install libomp-19-dev for clang-19")
  miniapp_row("files: HDF5, ${hdf5_kind}" "${HDF5_VERSION}" "install libhdf5-dev")
  miniapp_row("JSON: jansson" "${JANSSON_VERSION}" "install libjansson-dev")
  miniapp_row("SHA-256: nettle" "${NETTLE_VERSION}" "install nettle-dev")
  miniapp_row("units of inputs: UDUNITS" "${UDUNITS_VERSION}"
    "install libudunits2-dev; only the fields' own units are accepted")
  if(MINIAPP_MPI)
    miniapp_row("several processes: MPI" "${MPI_C_LIBRARIES}" "install libopenmpi-dev or libmpich-dev")
  endif()
  miniapp_row("unit tests: cmocka" "${CMOCKA_VERSION}" "install libcmocka-dev; not built")
  miniapp_row("test of the column solve: LAPACKE" "${LAPACKE_VERSION}"
    "install liblapacke-dev; not built")
  miniapp_row("end-to-end tests: Python" "${MINIAPP_PYTHON}"
    "install python3-h5py python3-mpmath python3-pytest; not run")
  miniapp_row("offload: ${offload_targets}" "${offload_note}" "")
  message(STATUS "builds bin/miniapp for --device cpu")
  if(offload_kind STREQUAL "none")
    message(STATUS "builds no offload: the presets emulated, nvptx and amdgpu do, for --device gpu")
  else()
    message(STATUS "builds lib/miniapp-offload.so for --device gpu")
  endif()
  if(NOT PkgConfig_FOUND)
    message(FATAL_ERROR "pkg-config is missing: install pkg-config")
  endif()
  if("${MINIAPP_PARALLEL_HDF5}" STREQUAL "ON" AND NOT hdf5_kind STREQUAL "parallel")
    message(FATAL_ERROR "No HDF5 that was built with the MPI of this build was found: install "
      "libhdf5-openmpi-dev or libhdf5-mpich-dev, or configure with -DMINIAPP_PARALLEL_HDF5=OFF")
  endif()
  if(NOT OpenMP_C_FOUND OR NOT HDF5_FOUND OR NOT JANSSON_FOUND OR NOT NETTLE_FOUND
      OR (MINIAPP_MPI AND NOT MPI_C_FOUND))
    message(FATAL_ERROR "Something that the build needs is missing: see the table above")
  endif()
endfunction()
