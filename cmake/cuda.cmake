# Finds a CUDA toolkit whose ptxas, and nvlink where anything is linked, work with this Clang. With
# CUDA 13, Clang up to version 20 makes images that libomptarget takes for those of another GPU, so
# that the program silently runs on the host (LLVM issue 159088): such a Clang needs CUDA 12. Sets
# CUDA_ROOT and CUDA_VERSION, or neither.

set(MINIAPP_CUDA "" CACHE PATH "CUDA toolkit of the offload build: the folder with bin/ptxas")
function(find_cuda)
  file(GLOB installed ${PROJECT_SOURCE_DIR}/build/cuda12 /usr/local/cuda /usr/local/cuda-12*
    /usr/lib/cuda)
  foreach(root ${MINIAPP_CUDA} $ENV{CUDA_PATH} ${installed})
    if(NOT EXISTS ${root}/bin/ptxas OR NOT (MINIAPP_WHOLE_PROGRAMS OR EXISTS ${root}/bin/nvlink))
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
