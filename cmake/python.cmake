# Finds a Python that has what the tests need: preferably Debian's own, else the first on the PATH.

function(find_python)
  foreach(candidate /usr/bin/python3 python3)
    execute_process(COMMAND ${candidate} -c "from importlib.util import find_spec
raise SystemExit(not all(map(find_spec, ['h5py', 'numpy', 'mpmath', 'pytest', 'scipy'])))"
      RESULT_VARIABLE missing OUTPUT_QUIET ERROR_QUIET)
    if(NOT missing)
      set(MINIAPP_PYTHON ${candidate} CACHE STRING "Python of the tests and references")
      return()
    endif()
  endforeach()
endfunction()
find_python()
