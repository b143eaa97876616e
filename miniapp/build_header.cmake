# Writes build.h, and only when something in it changed.
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
  OUTPUT_VARIABLE BUILD_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
  RESULT_VARIABLE unknown)
if(unknown)
  set(BUILD_COMMIT "unknown")
endif()
configure_file(${SOURCE}/miniapp/build.h.in ${BINARY}/generated/build.h @ONLY)
