# The version comes from the git tag; project(VERSION) takes its numbers.
#
#   ARGUS_VERSION_NUMBER   0.2.0
#   ARGUS_VERSION_TEXT     0.2.0 at the tag v0.2.0; five commits later 0.2.0+5.g1a2b3c4
#
# A source tarball of scripts/release has no git and carries its version in the file VERSION. Without either, and before the first
# tag, this is the version:
set(ARGUS_VERSION_TEXT 0.1.0)

# Read when CMake runs, not at each build: a new commit does not rebuild anything.
function(argus_version_of_git)
  execute_process(COMMAND git -C ${CMAKE_CURRENT_SOURCE_DIR} describe --tags --match "v[0-9]*" --abbrev=7
    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(described MATCHES "^v([0-9.]+)(-([0-9]+)-(g[0-9a-f]+))?$")
    set(text ${CMAKE_MATCH_1})
    if(CMAKE_MATCH_3)
      string(APPEND text "+${CMAKE_MATCH_3}.${CMAKE_MATCH_4}")
    endif()
    set(ARGUS_VERSION_TEXT ${text} PARENT_SCOPE)
  endif()
endfunction()

if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/VERSION)
  file(STRINGS ${CMAKE_CURRENT_SOURCE_DIR}/VERSION ARGUS_VERSION_TEXT LIMIT_COUNT 1)
elseif(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/.git)
  argus_version_of_git()
endif()
if(NOT ARGUS_VERSION_TEXT MATCHES "^[0-9]+(\\.[0-9]+)*")
  message(FATAL_ERROR "the version '${ARGUS_VERSION_TEXT}' does not begin with a number, as in 0.2.0")
endif()
set(ARGUS_VERSION_NUMBER ${CMAKE_MATCH_0})

# cmake -P cmake/version.cmake prints it.
if(CMAKE_SCRIPT_MODE_FILE)
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo ${ARGUS_VERSION_TEXT})
endif()
