# Finds what the kernels' builds need, and says in one table what was found, what will be built
# and what to install for the rest.

include(CheckCCompilerFlag)
include(CheckCSourceCompiles)
find_package(OpenMP COMPONENTS C)
find_package(HDF5 COMPONENTS C HL)
find_package(PkgConfig)
if(PkgConfig_FOUND)
  pkg_check_modules(JANSSON IMPORTED_TARGET jansson)
  pkg_check_modules(NETTLE IMPORTED_TARGET nettle)
  pkg_check_modules(CMOCKA IMPORTED_TARGET cmocka)
  pkg_check_modules(LAPACKE IMPORTED_TARGET lapacke)
endif()

# A Python that has what the tests need; Debian's own before whatever is first on the PATH.
function(find_python)
  foreach(candidate /usr/bin/python3 python3)
    execute_process(COMMAND ${candidate} -c "import h5py, numpy, mpmath, pytest, scipy"
      RESULT_VARIABLE missing OUTPUT_QUIET ERROR_QUIET)
    if(NOT missing)
      set(MINIAPP_PYTHON ${candidate} CACHE STRING "Python of the tests and references")
      return()
    endif()
  endforeach()
endfunction()
find_python()

# ---- host ----

set(MINIAPP_HOST_FLAGS "-O3 -fno-math-errno -fno-trapping-math" CACHE STRING
  "Optimisation of the host kernels; run/compilers compares several")
separate_arguments(host_flags NATIVE_COMMAND "${MINIAPP_HOST_FLAGS}")
if(MINIAPP_ARCH)
  string(MAKE_C_IDENTIFIER "HAVE_MARCH_${MINIAPP_ARCH}" have_march)
  check_c_compiler_flag(-march=${MINIAPP_ARCH} ${have_march})
  if(NOT ${have_march})
    message(FATAL_ERROR "This compiler knows no -march=${MINIAPP_ARCH}: set MINIAPP_ARCH to "
      "another processor, or to nothing")
  endif()
  list(APPEND host_flags -march=${MINIAPP_ARCH})
endif()
check_c_compiler_flag(-mprefer-vector-width=512 HAVE_VECTOR_WIDTH)
if(HAVE_VECTOR_WIDTH)
  list(APPEND host_flags -mprefer-vector-width=512)
endif()

add_library(miniapp_flags INTERFACE)
target_compile_options(miniapp_flags INTERFACE -Wall -Wextra -Wno-missing-field-initializers)
target_compile_definitions(miniapp_flags INTERFACE _GNU_SOURCE)
if(MINIAPP_SANITIZE)
  set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(miniapp_flags INTERFACE -g ${sanitizers} -Wno-pass-failed)
  target_link_options(miniapp_flags INTERFACE ${sanitizers})
endif()

# ---- offload ----

# Clang's runtime libraries and device code, wherever this Clang is installed.
function(find_clang_libraries)
  execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libomptarget.so
    OUTPUT_VARIABLE library OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT IS_ABSOLUTE "${library}")
    string(REGEX MATCH "^[0-9]+" major "${CMAKE_C_COMPILER_VERSION}")
    find_library(library_found omptarget HINTS /usr/lib/llvm-${major}/lib)
    set(library "${library_found}")
  endif()
  if(library)
    file(REAL_PATH "${library}" library)
    get_filename_component(folder "${library}" DIRECTORY)
    set(CLANG_LIBRARIES ${folder} CACHE PATH "Folder of Clang's offload runtime")
  endif()
endfunction()

# A CUDA toolkit whose ptxas and nvlink go with this Clang. Clang up to 20 with CUDA 13 makes
# images that libomptarget takes for those of another GPU, followed by a silent run on the host
# (LLVM issue 159088): then CUDA has to be 12. Sets CUDA_ROOT and CUDA_VERSION, or neither.
set(MINIAPP_CUDA "" CACHE PATH "CUDA toolkit of the offload build: the folder with bin/ptxas")
function(find_cuda)
  file(GLOB installed ${PROJECT_SOURCE_DIR}/build/cuda12 /usr/local/cuda /usr/local/cuda-12*
    /usr/lib/cuda)
  foreach(root ${MINIAPP_CUDA} $ENV{CUDA_PATH} ${installed})
    if(NOT EXISTS ${root}/bin/ptxas OR NOT EXISTS ${root}/bin/nvlink)
      continue()
    endif()
    execute_process(COMMAND ${root}/bin/ptxas --version OUTPUT_VARIABLE version)
    string(REGEX MATCH "release ([0-9]+)" matched "${version}")
    if(CMAKE_MATCH_1 LESS 13 OR CMAKE_C_COMPILER_VERSION VERSION_GREATER_EQUAL 21)
      set(CUDA_ROOT ${root} PARENT_SCOPE)
      set(CUDA_VERSION ${CMAKE_MATCH_1} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

if(MINIAPP_OFFLOAD MATCHES "^x86_64")
  set(offload_kind emulated)
elseif(MINIAPP_OFFLOAD MATCHES "^sm_[0-9]+a?(;sm_[0-9]+a?)*$")
  set(offload_kind nvptx)
elseif(MINIAPP_OFFLOAD STREQUAL "none")
  set(offload_kind none)
else()
  message(FATAL_ERROR "MINIAPP_OFFLOAD is '${MINIAPP_OFFLOAD}', but must be none, x86_64, or GPU "
    "architectures such as sm_80;sm_90")
endif()
set(offload_flags)
set(offload_note "not asked for")
set(offload_target none)
set(offload_by_gcc OFF)
if(offload_kind STREQUAL nvptx AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
  set(offload_by_gcc ON)
elseif(NOT offload_kind STREQUAL none)
  if(NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "This offload is built by Clang: install clang-19, clang-tools-19, lld-19 and "
      "libomp-19-dev, and configure with -DCMAKE_C_COMPILER=clang-19")
  endif()
  find_clang_libraries()
  if(NOT CLANG_LIBRARIES)
    message(FATAL_ERROR "Clang's offload runtime (libomptarget) is missing: install libomp-19-dev")
  endif()
endif()
if(offload_kind STREQUAL emulated)
  set(offload_target x86_64-pc-linux-gnu)
  set(offload_flags -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu)
  set(offload_compile_flags -fopenmp-optimistic-collapse) # see physics/directives.h
  set(offload_note "emulated on the CPU, with memory of its own")
elseif(offload_by_gcc)
  set(offload_target ${MINIAPP_OFFLOAD})
  set(offload_note "PTX, assembled at start by the GPU's driver")
  set(offload_flags -fopenmp -foffload=nvptx-none)
  # The assembler's check of the PTX needs CUDA. GCC's table of target regions wants relocating.
  set(offload_link_flags -Wl,-z,notext
    "-foffload-options=-Wa,--no-verify -lm -misa=${MINIAPP_OFFLOAD}")
  set(CMAKE_REQUIRED_FLAGS -fopenmp)
  set(CMAKE_REQUIRED_LINK_OPTIONS ${offload_flags} ${offload_link_flags})
  check_c_source_compiles("int main(void) {
    int there = 0;
    _Pragma(\"omp target map(from : there)\")
    there = 1;
    return !there; }" HAVE_GCC_OFFLOAD_${MINIAPP_OFFLOAD})
  unset(CMAKE_REQUIRED_FLAGS)
  unset(CMAKE_REQUIRED_LINK_OPTIONS)
  if(NOT HAVE_GCC_OFFLOAD_${MINIAPP_OFFLOAD})
    message(FATAL_ERROR "This GCC cannot offload to '${MINIAPP_OFFLOAD}': install gcc-12-offload-nvptx "
      "for GCC 12, and name one architecture that it knows, such as sm_80; newer GPUs run it too")
  endif()
elseif(offload_kind STREQUAL nvptx)
  find_cuda()
  list(JOIN MINIAPP_OFFLOAD "," offload_target)
  set(offload_flags -fopenmp)
  set(offload_compile_flags -fopenmp-optimistic-collapse)
  foreach(architecture ${MINIAPP_OFFLOAD})
    list(APPEND offload_flags --offload-arch=${architecture})
  endforeach()
  if(CUDA_ROOT)
    set(offload_note "machine code by CUDA ${CUDA_VERSION} in ${CUDA_ROOT}")
    list(APPEND offload_flags --cuda-path=${CUDA_ROOT}
      --libomptarget-nvptx-bc-path=${CLANG_LIBRARIES})
  else() # needs no CUDA at all: the kernels call nothing of its device library
    set(offload_note "bitcode, for a ptxas at start; run/cuda12 fetches what makes machine code")
    list(APPEND offload_flags -fopenmp-target-jit)
    list(APPEND offload_compile_flags -nocudalib)
  endif()
endif()

# ---- the table ----

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
  miniapp_row("files: HDF5" "${HDF5_VERSION}" "install libhdf5-dev")
  miniapp_row("JSON: jansson" "${JANSSON_VERSION}" "install libjansson-dev")
  miniapp_row("SHA-256: nettle" "${NETTLE_VERSION}" "install nettle-dev")
  miniapp_row("unit tests: cmocka" "${CMOCKA_VERSION}" "install libcmocka-dev; not built")
  miniapp_row("test of the column solve: LAPACKE" "${LAPACKE_VERSION}"
    "install liblapacke-dev; not built")
  miniapp_row("end-to-end tests: Python" "${MINIAPP_PYTHON}"
    "install python3-h5py python3-mpmath python3-pytest; not run")
  miniapp_row("offload: ${offload_target}" "${offload_note}" "")
  message(STATUS "builds bin/miniapp for --device cpu")
  if(offload_target STREQUAL "none")
    message(STATUS "builds no offload: use --preset emulated or --preset nvptx for --device gpu")
  else()
    message(STATUS "builds lib/miniapp-offload.so for --device gpu")
  endif()
  if(NOT PkgConfig_FOUND)
    message(FATAL_ERROR "pkg-config is missing: install pkg-config")
  endif()
  if(NOT OpenMP_C_FOUND OR NOT HDF5_FOUND OR NOT JANSSON_FOUND OR NOT NETTLE_FOUND)
    message(FATAL_ERROR "Something that the build needs is missing: see the table above")
  endif()
endfunction()
