# Finds ROCm's device libraries, which Clang wants to see for AMD GPUs although our kernels call
# nothing in them (LLVM issue 106403). Sets ROCM_BITCODE to the first folder that has them for every
# architecture.

set(MINIAPP_ROCM "" CACHE PATH "ROCm's device libraries: the folder with oclc_isa_version_90a.bc")
function(find_rocm architectures)
  foreach(folder ${MINIAPP_ROCM} $ENV{ROCM_PATH}/amdgcn/bitcode
      /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/amdgcn/bitcode /opt/rocm/amdgcn/bitcode)
    set(has_all TRUE)
    foreach(architecture ${architectures})
      string(REPLACE "gfx" "${folder}/oclc_isa_version_" file "${architecture}.bc")
      if(NOT EXISTS ${file})
        set(has_all FALSE)
      endif()
    endforeach()
    if(has_all)
      set(ROCM_BITCODE ${folder} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  list(JOIN architectures ", " names)
  message(FATAL_ERROR "No ROCm device libraries for ${names} were found: install rocm-device-libs, "
    "or name in MINIAPP_ROCM the folder of those of a ROCm that knows them")
endfunction()
