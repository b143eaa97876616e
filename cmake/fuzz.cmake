# The fuzzers of the reader and of saved runs: -DMINIAPP_FUZZ=ON, or the preset `fuzz`, in place of the
# tests.

if(NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "The fuzzer is built by Clang: configure with -DCMAKE_C_COMPILER=clang-19")
endif()
set(MINIAPP_FUZZ_SECONDS 5 CACHE STRING "How long each test fuzzes, in seconds")

# The library is compiled again with the sanitizers; its kernels are taken as they are.
get_target_property(library_sources miniapp_library_objects SOURCES)
add_executable(fuzz_input validation/reader/fuzz_input.c ${library_sources}
  $<TARGET_OBJECTS:physics_host_float64> $<TARGET_OBJECTS:physics_host_float32>)
add_dependencies(fuzz_input build_header)
target_include_directories(fuzz_input PRIVATE
  $<TARGET_PROPERTY:miniapp_library_objects,INCLUDE_DIRECTORIES>)
target_compile_definitions(fuzz_input PRIVATE ${HDF5_DEFINITIONS})
set(fuzzed -g1 -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all
  -fno-omit-frame-pointer)
target_compile_options(fuzz_input PRIVATE ${fuzzed})
target_link_options(fuzz_input PRIVATE -fsanitize=fuzzer,address,undefined LINKER:--wrap=H5Ewalk2)
target_link_libraries(fuzz_input PRIVATE miniapp_flags OpenMP::OpenMP_C ${HDF5_HL_LIBRARIES}
  ${HDF5_LIBRARIES} m ${CMAKE_DL_LIBS})

# The seeds are made, not stored. The test goes on from what earlier runs in this build folder
# learned; run/dev/fuzz says what counts as a failure of it.
set(seeds ${CMAKE_CURRENT_BINARY_DIR}/seeds)
add_custom_command(OUTPUT ${seeds}.done
  COMMAND ${MINIAPP_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/validation/reader/make_seeds.py ${seeds}
  COMMAND ${CMAKE_COMMAND} -E touch ${seeds}.done
  DEPENDS validation/reader/make_seeds.py validation/fields.py)
add_custom_target(fuzz_seeds ALL DEPENDS ${seeds}.done)
add_dependencies(fuzz_input fuzz_seeds)
add_test(NAME fuzz.input COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/run/dev/fuzz
  --build ${CMAKE_BINARY_DIR} --seconds ${MINIAPP_FUZZ_SECONDS})
set_tests_properties(fuzz.input PROPERTIES LABELS fuzz TIMEOUT 1800)

# Saved runs: what reads and prints them has the sanitizers, the rest is the library as it is.
get_target_property(program_sources miniapp SOURCES)
list(FILTER program_sources EXCLUDE REGEX "/main\\.c$")
add_executable(fuzz_results validation/program/fuzz_results.c ${program_sources})
add_dependencies(fuzz_results build_header)
target_include_directories(fuzz_results PRIVATE
  $<TARGET_PROPERTY:miniapp,INCLUDE_DIRECTORIES>)
target_compile_definitions(fuzz_results PRIVATE ${HDF5_DEFINITIONS})
target_compile_options(fuzz_results PRIVATE ${fuzzed})
target_link_options(fuzz_results PRIVATE -fsanitize=fuzzer,address,undefined)
target_link_libraries(fuzz_results PRIVATE miniapp_flags libminiapp PkgConfig::JANSSON
  PkgConfig::NETTLE PkgConfig::HWLOC ${HDF5_LIBRARIES})

# The fuzzer starts from two runs that are made for it and have everything that such a file can hold.
set(saved ${CMAKE_CURRENT_BINARY_DIR}/saved)
set(grid ${CMAKE_CURRENT_SOURCE_DIR}/inputs/grid.h5)
set(reference ${CMAKE_CURRENT_SOURCE_DIR}/validation/stored/grid)
add_custom_command(OUTPUT ${saved}/run.json
  COMMAND ${CMAKE_COMMAND} -E make_directory ${saved} ${saved}.corpus
  COMMAND ${CMAKE_COMMAND} -E rm -f ${saved}/run.json # a run of another commit is not resumed
  COMMAND miniapp -k mixing -r 3 --roofline --checksums
    --resume ${saved}/run.json ${grid}
  # --resume keeps no validation
  COMMAND sh -c "exec '$<TARGET_FILE:miniapp>' -k eos -r 3 --format json --validate '${reference}' '${grid}' \
>'${saved}/validated.json'"
  DEPENDS miniapp VERBATIM)
add_custom_target(fuzz_saved ALL DEPENDS ${saved}/run.json)
add_test(NAME fuzz.results COMMAND fuzz_results -max_total_time=${MINIAPP_FUZZ_SECONDS} -max_len=60000
  -artifact_prefix=${CMAKE_CURRENT_BINARY_DIR}/results- ${saved}.corpus ${saved})
set_tests_properties(fuzz.results PROPERTIES LABELS fuzz TIMEOUT 1800)
