# Writes build.h, but only if something in it has changed. The commit is git's or, in a source
# archive, what `git archive` put into commit.txt. git is asked only if SOURCE is a repository of
# its own: an archive may be unpacked inside some other repository.
set(unknown TRUE)
if(EXISTS ${SOURCE}/.git)
  execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
    OUTPUT_VARIABLE BUILD_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
    RESULT_VARIABLE unknown)
endif()
if(unknown)
  file(STRINGS ${SOURCE}/miniapp/commit.txt BUILD_COMMIT REGEX "^[0-9a-f]+$")
  string(SUBSTRING "${BUILD_COMMIT}" 0 12 BUILD_COMMIT)
  if(NOT BUILD_COMMIT)
    set(BUILD_COMMIT "unknown")
  endif()
endif()
# the modules' tables and calls follow from the descriptions
foreach(description ${DESCRIPTIONS})
  file(SHA256 ${description} digest)
  string(APPEND digests ${digest})
endforeach()
string(SHA256 BUILD_KERNELS "${digests}")
string(SUBSTRING ${BUILD_KERNELS} 0 12 BUILD_KERNELS)
configure_file(${SOURCE}/miniapp/build.h.in ${BINARY}/generated/build.h @ONLY)
