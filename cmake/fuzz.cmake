# The fuzzers of the reader and of saved runs, in the build with sanitizers. The sources that they are about are
# compiled with counters of coverage, for the program, too: its tests take as long as without. They would take longer
# if each comparison were traced.

set(MINIAPP_FUZZ_SECONDS 5 CACHE STRING "How long each test fuzzes, in seconds")
file(GLOB fuzzed CONFIGURE_DEPENDS miniapp/file/*.c miniapp/report/*.c)
set_source_files_properties(${fuzzed} TARGET_DIRECTORY miniapp
  PROPERTIES COMPILE_OPTIONS "-fsanitize=fuzzer-no-link;-fno-sanitize-coverage=trace-cmp,indirect-calls,stack-depth")

function(miniapp_fuzzer name source)
  add_executable(fuzz_${name} ${source})
  target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  target_link_libraries(fuzz_${name} PRIVATE miniapp_parts)
  add_test(NAME fuzz.${name} COMMAND ${ARGN})
  set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz TIMEOUT 1800)
endfunction()

# The seeds are made, not stored. The test goes on from what earlier runs in this build folder
# learned; run/dev/fuzz says what counts as a failure of it.
set(seeds ${CMAKE_CURRENT_BINARY_DIR}/seeds)
add_custom_command(OUTPUT ${seeds}.done
  COMMAND ${MINIAPP_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/validation/reader/make_seeds.py ${seeds}
  COMMAND ${CMAKE_COMMAND} -E touch ${seeds}.done
  DEPENDS validation/reader/make_seeds.py validation/fields.py)
add_custom_target(fuzz_seeds ALL DEPENDS ${seeds}.done)
miniapp_fuzzer(input validation/reader/fuzz_input.c ${CMAKE_CURRENT_SOURCE_DIR}/run/dev/fuzz
  --build ${CMAKE_BINARY_DIR} --seconds ${MINIAPP_FUZZ_SECONDS})
target_link_options(fuzz_input PRIVATE LINKER:--wrap=H5Ewalk2)
set_target_properties(fuzz_input PROPERTIES C_VISIBILITY_PRESET default) # its checksums take the place of HDF5's

# The fuzzer of saved runs starts from two that are made for it and have everything that such a file can hold.
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
miniapp_fuzzer(results validation/program/fuzz_results.c fuzz_results -max_total_time=${MINIAPP_FUZZ_SECONDS}
  -max_len=60000 -artifact_prefix=${CMAKE_CURRENT_BINARY_DIR}/results- ${saved}.corpus ${saved})
target_link_libraries(fuzz_results PRIVATE PkgConfig::JANSSON PkgConfig::NETTLE PkgConfig::HWLOC)
