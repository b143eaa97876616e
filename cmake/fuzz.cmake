# The fuzzer of the reader: -DMINIAPP_FUZZ=ON, or the preset `fuzz`, in place of the tests.

if(NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "The fuzzer is built by Clang: configure with -DCMAKE_C_COMPILER=clang-19")
endif()
set(MINIAPP_FUZZ_SECONDS 30 CACHE STRING "How long the test fuzzes, on all cores, in seconds")

# The library again, under the sanitizers, and its kernels as they are.
get_target_property(library_sources miniapp_library_objects SOURCES)
add_executable(fuzz_input validation/fuzz_input.c ${library_sources}
  $<TARGET_OBJECTS:physics_host_float64> $<TARGET_OBJECTS:physics_host_float32>)
add_dependencies(fuzz_input build_header)
target_include_directories(fuzz_input PRIVATE
  $<TARGET_PROPERTY:miniapp_library_objects,INCLUDE_DIRECTORIES>)
target_compile_definitions(fuzz_input PRIVATE ${HDF5_DEFINITIONS}
  $<$<BOOL:${UDUNITS_FOUND}>:MINIAPP_UDUNITS>)
target_compile_options(fuzz_input PRIVATE -g -O1 -fsanitize=fuzzer,address,undefined
  -fno-sanitize-recover=all -fno-omit-frame-pointer)
target_link_options(fuzz_input PRIVATE -fsanitize=fuzzer,address,undefined LINKER:--wrap=H5Ewalk2)
target_link_libraries(fuzz_input PRIVATE miniapp_flags OpenMP::OpenMP_C ${HDF5_HL_LIBRARIES}
  ${HDF5_LIBRARIES} ${UDUNITS_LINK_LIBRARIES} m ${CMAKE_DL_LIBS})

# The seeds are made, not stored. The test goes on from what earlier runs in this build folder
# learned; what counts as its failure, run/fuzz tells.
set(seeds ${CMAKE_CURRENT_BINARY_DIR}/seeds)
add_custom_command(OUTPUT ${seeds}.done
  COMMAND ${MINIAPP_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/validation/make_seeds.py ${seeds}
  COMMAND ${CMAKE_COMMAND} -E touch ${seeds}.done
  DEPENDS validation/make_seeds.py validation/fields.py)
add_custom_target(fuzz_seeds ALL DEPENDS ${seeds}.done)
add_dependencies(fuzz_input fuzz_seeds)
add_test(NAME fuzz.input COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/run/fuzz
  --build ${CMAKE_BINARY_DIR} --seconds ${MINIAPP_FUZZ_SECONDS})
set_tests_properties(fuzz.input PROPERTIES LABELS fuzz TIMEOUT 1800)
