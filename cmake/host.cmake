# How the host's code is compiled: `host_flags` for its kernels, and `miniapp_flags` for everything.

# Sets in the cache whether the compiler takes flags, all of them: check_c_compiler_flag builds a program for each.
function(check_flags have)
  if(NOT DEFINED ${have})
    separate_arguments(words NATIVE_COMMAND "${CMAKE_C_COMPILER_ARG1}") # of CC="ccache clang"
    execute_process(COMMAND ${CMAKE_C_COMPILER} ${words} -Werror ${ARGN} -fsyntax-only -x c /dev/null
      RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(failed STREQUAL 0)
      set(${have} TRUE CACHE INTERNAL "")
    else()
      set(${have} FALSE CACHE INTERNAL "")
    endif()
  endif()
endfunction()

if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(optimisation -Og)
else()
  set(optimisation -O3)
endif()
set(MINIAPP_HOST_FLAGS "${optimisation} -fno-math-errno -fno-trapping-math" CACHE STRING
  "Optimisation of the host kernels; run/compilers compares several")
separate_arguments(host_flags NATIVE_COMMAND "${MINIAPP_HOST_FLAGS}")
# For ARM, it is -mcpu that names a processor, and -march an architecture.
set(arch_option -march)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(arch_option -mcpu)
endif()
if(MINIAPP_ARCH)
  string(MAKE_C_IDENTIFIER "HAVE${arch_option}_${MINIAPP_ARCH}" have_arch)
  check_flags(${have_arch} ${arch_option}=${MINIAPP_ARCH})
  if(NOT ${have_arch})
    message(FATAL_ERROR "This compiler knows no ${arch_option}=${MINIAPP_ARCH}: set MINIAPP_ARCH to "
      "another processor, or to nothing")
  endif()
  list(APPEND host_flags ${arch_option}=${MINIAPP_ARCH})
endif()
check_flags(HAVE_VECTOR_WIDTH -mprefer-vector-width=512)
if(HAVE_VECTOR_WIDTH)
  list(APPEND host_flags -mprefer-vector-width=512)
endif()
# Clang computes what is left of a row after its whole vectors by shorter vectors first: by default only if the whole
# ones have 16 elements. Rows of 30 columns then take 0.80 to 0.95 of the time, long ones as long as before.
set(short_vectors -mllvm -epilogue-vectorization-minimum-VF=4)
# The points left over after a row's whole vectors cost eos, which does nothing but arithmetic, a
# tenth of its time when they are computed as scalars: Clang is told to mask a vector instead. (tke,
# isoneutral and isoneutral_mixing become slower that way.)
set(masked_rest -mllvm -prefer-predicate-over-epilogue=predicate-else-scalar-epilogue)
# Single points are left then. Clang would put their bits and masks into vectors, one element at a time: in a loop of
# eke, three points so took longer than the row's other 136.
check_flags(HAVE_FLAGS_OF_LLVM ${short_vectors} ${masked_rest} -fno-slp-vectorize)
if(HAVE_FLAGS_OF_LLVM)
  list(JOIN short_vectors " " short_vectors)
  list(APPEND host_flags "SHELL:${short_vectors}" -fno-slp-vectorize)
endif()

# GCC would compile a loop twice where a condition changes within a row. The kernels take as long without that, and a
# fifth less to compile.
if(CMAKE_C_COMPILER_ID STREQUAL GNU)
  list(APPEND host_flags -fno-split-loops)
endif()

add_library(miniapp_flags INTERFACE)
target_compile_options(miniapp_flags INTERFACE -Wall -Wextra -Wno-missing-field-initializers)
target_compile_definitions(miniapp_flags INTERFACE _GNU_SOURCE)
if(MINIAPP_SANITIZE)
  set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(miniapp_flags INTERFACE -g1 ${sanitizers} -Wno-pass-failed)
  target_link_options(miniapp_flags INTERFACE ${sanitizers})
endif()
