# How the host's code is compiled: `host_flags` for its kernels, and `miniapp_flags` for everything.

include(CheckCCompilerFlag)

if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(optimisation -Og)
else()
  set(optimisation -O3)
endif()
set(MINIAPP_HOST_FLAGS "${optimisation} -fno-math-errno -fno-trapping-math" CACHE STRING
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
# Clang computes what is left of a row after its whole vectors by shorter vectors first: by default only if the whole
# ones have 16 elements. Rows of 30 columns then take 0.80 to 0.95 of the time, long ones as long as before.
set(CMAKE_REQUIRED_FLAGS "-mllvm -epilogue-vectorization-minimum-VF=4")
check_c_compiler_flag(-O3 HAVE_SHORT_VECTORS)
if(HAVE_SHORT_VECTORS)
  list(APPEND host_flags "SHELL:${CMAKE_REQUIRED_FLAGS}")
endif()
unset(CMAKE_REQUIRED_FLAGS)
# Single points are left then. Clang would put their bits and masks into vectors, one element at a time: in a loop of
# eke, three points so took longer than the row's other 136.
check_c_compiler_flag(-fno-slp-vectorize HAVE_NO_SLP)
if(HAVE_NO_SLP)
  list(APPEND host_flags -fno-slp-vectorize)
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
