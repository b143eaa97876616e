# Offload: what MINIAPP_OFFLOAD may name, how each compiler builds it, and what this build does.
# Sets
#   offload_kind      nvidia, amd, emulated or none
#   offload_targets   as MINIAPP_OFFLOAD spells them, with commas
#   offload_form      machine code, or what the runtime or the driver assembles at start
#   offload_note      what every output says of it
#   offload_flags, offload_compile_flags, offload_link_flags
#   offload_launcher  the programs that CMake starts the compiler with; may be empty

include(cmake/clang.cmake)
include(cmake/cuda.cmake)

# ---- MINIAPP_OFFLOAD ----

set(nvidia_spelling "nvidia:(sm_[0-9]+a?)")
set(amd_spelling "amd:(gfx[0-9a-f]+)")
set(emulated_spelling "emulated")
set(none_spelling "none")
set(target_examples "nvidia:sm_90, amd:gfx90a, emulated and none")

# Targets were once spelled sm_90 and x86_64.
function(refuse_old_spelling)
  string(REGEX REPLACE "(^|;)sm_" "\\1nvidia:sm_" new "${MINIAPP_OFFLOAD}")
  string(REGEX REPLACE "^x86_64.*" "emulated" new "${new}")
  if(NOT new STREQUAL MINIAPP_OFFLOAD)
    message(FATAL_ERROR "MINIAPP_OFFLOAD: '${MINIAPP_OFFLOAD}' is spelled '${new}'")
  endif()
endfunction()

# Sets the kind of a target and its architecture.
function(read_target target)
  foreach(kind nvidia amd emulated none)
    if(target MATCHES "^${${kind}_spelling}$")
      set(kind ${kind} PARENT_SCOPE)
      set(architecture "${CMAKE_MATCH_1}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  message(FATAL_ERROR "MINIAPP_OFFLOAD: '${target}' is no target; there are ${target_examples}")
endfunction()

refuse_old_spelling()
set(kinds)
set(architectures)
foreach(target IN LISTS MINIAPP_OFFLOAD)
  read_target("${target}")
  list(APPEND kinds ${kind})
  list(APPEND architectures ${architecture})
endforeach()
list(REMOVE_DUPLICATES kinds)
if(NOT "${kinds}" MATCHES "^[a-z]+$")
  message(FATAL_ERROR "MINIAPP_OFFLOAD: '${MINIAPP_OFFLOAD}' has to name targets of one kind, "
    "since OpenMP does not tell which kind a device is of; there are ${target_examples}")
endif()
set(offload_kind ${kinds})
list(JOIN MINIAPP_OFFLOAD "," offload_targets)

# ---- the table ----

option(MINIAPP_WHOLE_PROGRAMS "Let ptxas see each file as a whole program; OFF links the GPU code of all" ON)
set(builder ${CMAKE_C_COMPILER_ID})
if(builder STREQUAL Clang AND NOT offload_kind STREQUAL none)
  find_clang_libraries()
  if(offload_kind STREQUAL nvidia)
    find_cuda()
  endif()
endif()
if(CUDA_ROOT AND MINIAPP_WHOLE_PROGRAMS)
  set(builder Clang_and_CUDA)
elseif(CUDA_ROOT)
  set(builder Clang_and_nvlink)
endif()
list(TRANSFORM architectures PREPEND --offload-arch= OUTPUT_VARIABLE offload_arch)
set(needs_clang "clang-19, clang-tools-19, lld-19, libomp-19-dev")

# Sets the flags that link the GPU's part of Clang's runtime into each file. If it is left to the link of all files,
# LLVM tries every nest at each call of the runtime's there: that takes half a minute, and nests take more registers
# (docs/notes/2026-11-gpu-code.md). There are none for several architectures, since Clang would take one's file for all.
# CMake takes away one of two equal flags: so the target has its short name once, and once the whole.
function(link_runtime_by_file variable target vendor name architectures)
  set(file "${CLANG_LIBRARIES}/libomptarget-${name}-${architectures}.bc")
  set(${variable} PARENT_SCOPE)
  if(EXISTS "${file}")
    set(${variable} -Xopenmp-target=${target} -Xclang=-mlink-builtin-bitcode
      -Xopenmp-target=${target}-${vendor} -Xclang=${file} PARENT_SCOPE)
  endif()
endfunction()

macro(row kind builder) # FLAGS are for compiling and linking; NEEDS are Debian packages
  cmake_parse_arguments(${kind}_${builder} "" "FORM;NOTE;NEEDS;LAUNCHER" "FLAGS;COMPILE;LINK" ${ARGN})
endmacro()

# For -fopenmp-optimistic-collapse see physics/common/directives.h. Without -fopenmp-cuda-mode, which
# says that a thread's locals are its own, clang-19 makes NaN of a sum in isoneutral_mixing: run/dev/paper
# looks for that.
set(for_gpus -fopenmp-optimistic-collapse -fopenmp-cuda-mode)
set(by_cuda ${offload_arch} --cuda-path=${CUDA_ROOT} --libomptarget-nvptx-bc-path=${CLANG_LIBRARIES})
# A whole program needs fewer registers: docs/notes/2026-11-gpu-code.md has how many. There is nothing left to link.
row(nvidia Clang_and_CUDA
  FORM "machine code"
  FLAGS -fopenmp
  COMPILE ${by_cuda} ${for_gpus} -fnoopenmp-relocatable-target
  LINK ${CLANG_LIBRARIES}/libomptarget.so
  LAUNCHER ${PROJECT_SOURCE_DIR}/cmake/whole_program/compile
  NEEDS "${needs_clang}"
  NOTE "machine code by CUDA ${CUDA_VERSION} in ${CUDA_ROOT}, each file a whole program")
row(nvidia Clang_and_nvlink
  FORM "machine code"
  FLAGS -fopenmp ${by_cuda}
  COMPILE ${for_gpus}
  NEEDS "${needs_clang}"
  NOTE "machine code by CUDA ${CUDA_VERSION} in ${CUDA_ROOT}, linked")
# Bitcode is compiled at start for the GPU that is there, so the oldest one's serves all. It needs no
# CUDA at all: the kernels call nothing of its device library.
list(SORT architectures COMPARE NATURAL)
string(REGEX REPLACE ";.*" "" oldest "${architectures}")
link_runtime_by_file(runtime nvptx64 nvidia-cuda nvptx "${oldest}")
row(nvidia Clang
  FORM "bitcode"
  FLAGS -fopenmp --offload-arch=${oldest} -fopenmp-target-jit
  COMPILE ${for_gpus} -nocudalib ${runtime}
  NEEDS "${needs_clang}"
  NOTE "bitcode, for a ptxas at start: run/cuda12 fetches what makes machine code")
# The assembler's check needs CUDA. GCC's table of regions has text relocations. For the variables that
# each lane of a warp has for itself, GCC 12 reserves 128 bytes if it does not know their size in time,
# and then writes beyond them without a word: validation/gpu/check_image.py compares. It would make vectors in the
# host's copy of a nest alone, which never runs, and take up to 15 times as long to compile it.
row(nvidia GNU
  FORM "PTX"
  FLAGS -fopenmp -foffload=nvptx-none
  COMPILE -fno-tree-loop-vectorize
  LINK -Wl,-z,notext
    "-foffload-options=-Wa,--no-verify -lm -misa=${architectures} -msoft-stack-reserve-local=512"
  NEEDS "gcc-12-offload-nvptx for GCC 12, and name one target that it knows, such as nvidia:sm_80, \
whose code newer GPUs run too"
  NOTE "PTX, assembled at start by the GPU's driver")
# The kernels call nothing of ROCm's libraries. The linker would optimise the linked code itself, but does not
# find that pointers are of global memory, as Clang does.
link_runtime_by_file(runtime amdgcn amd-amdhsa amdgpu "${architectures}")
row(amd Clang
  FORM "machine code"
  FLAGS -fopenmp ${offload_arch}
  COMPILE ${for_gpus} -nogpulib ${runtime}
  LINK -Wl,--clang-backend -Xoffload-linker -nogpulib
  NEEDS "${needs_clang}"
  NOTE "machine code, which no AMD GPU has run yet")
row(emulated Clang
  FORM "machine code"
  FLAGS -fopenmp -fopenmp-targets=${CMAKE_SYSTEM_PROCESSOR}-unknown-linux-gnu
  COMPILE -fopenmp-optimistic-collapse -O1 -Xarch_host -O0 # nobody times it; of nests, the host's copy never runs
  NEEDS "${needs_clang}"
  NOTE "emulated on the CPU, with memory of its own")

# ---- this build ----

set(row ${offload_kind}_${builder})
set(offload_form "${${row}_FORM}")
set(offload_note "${${row}_NOTE}")
if(MINIAPP_WIDE_COUNT AND builder MATCHES Clang)
  string(APPEND offload_note ", for more than 1e9 points")
endif()
set(offload_flags ${${row}_FLAGS})
set(offload_compile_flags ${${row}_COMPILE})
set(offload_link_flags ${${row}_LINK})
set(offload_launcher ${${row}_LAUNCHER} ${CMAKE_C_COMPILER_LAUNCHER})

# Builds a target region; if that fails, the message says what is missing.
function(check_offload)
  string(MAKE_C_IDENTIFIER "HAVE_OFFLOAD_${offload_targets}_${builder}" have)
  try_compile(${have} SOURCE_FROM_CONTENT region.c "int main(void) {
    int there = 0;
    _Pragma(\"omp target teams distribute parallel for map(from : there)\")
    for (int i = 0; i < 1; i++) there = 1;
    return !there; }"
    COMPILE_DEFINITIONS ${offload_flags} ${offload_compile_flags}
    LINK_OPTIONS ${offload_flags} ${offload_link_flags}
    CMAKE_FLAGS -DCMAKE_C_COMPILER_LAUNCHER=${${row}_LAUNCHER}
    OUTPUT_VARIABLE log)
  if(NOT ${have})
    unset(${have} CACHE) # so that the next configure tries again
    string(REGEX MATCH "[^\n]*error: [^\n]*" why "${log}")
    message(FATAL_ERROR "No target region was built for ${offload_targets} (${why}): install "
      "${${row}_NEEDS}")
  endif()
endfunction()

if(offload_kind STREQUAL none)
  set(offload_note "not asked for")
elseif(NOT offload_form)
  message(FATAL_ERROR "Offload for ${offload_targets} is built by Clang: install "
    "${${offload_kind}_Clang_NEEDS}; and configure with -DCMAKE_C_COMPILER=clang-19")
else()
  check_offload()
endif()
