# The fuzzer of the reader: -DMINIAPP_FUZZ=ON, or the preset `fuzz`, in place of the tests.

if(NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "The fuzzer is built by Clang: configure with -DCMAKE_C_COMPILER=clang-19")
endif()
set(MINIAPP_FUZZ_SECONDS 30 CACHE STRING "How long the test fuzzes, on all cores, in seconds")

add_executable(fuzz_input validation/fuzz_input.c miniapp/input.c miniapp/hdf5_error.c
  miniapp/fields.c miniapp/memory.c miniapp/cgroup.c miniapp/number.c miniapp/range.c
  miniapp/status.c)
target_include_directories(fuzz_input PRIVATE miniapp ${HDF5_INCLUDE_DIRS})
target_compile_definitions(fuzz_input PRIVATE ${HDF5_DEFINITIONS})
target_compile_options(fuzz_input PRIVATE -g -O1 -fsanitize=fuzzer,address,undefined
  -fno-sanitize-recover=all -fno-omit-frame-pointer)
target_link_options(fuzz_input PRIVATE -fsanitize=fuzzer,address,undefined LINKER:--wrap=H5Ewalk2)
target_link_libraries(fuzz_input PRIVATE miniapp_flags physics ${HDF5_LIBRARIES})

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
