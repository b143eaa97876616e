# Sets CLANG_LIBRARIES to the folder of Clang's offload runtime and device code, wherever this Clang
# is installed.

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
