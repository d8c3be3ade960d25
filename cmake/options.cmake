# Build options and the compiler flags that every target shares.
option(ARGUS_TESTS "Build the tests" ON)
option(ARGUS_BENCH "Build the benchmarks" ON)
option(ARGUS_PLUGIN "Build the LLDB plugin, if there are LLDB's headers and a C++ compiler" ON)
option(ARGUS_WERROR "Treat warnings as errors" OFF)
option(ARGUS_FUZZERS "Build the libFuzzer targets (needs clang)" OFF)
set(ARGUS_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

# Directly below the prefix, not in Debian's multiarch folder: the plugin is not a library to link against.
set(ARGUS_PLUGIN_DIR lib/argus)

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON) # GNU: statement attributes such as cleanup
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON) # one object code for the plugin and the programs
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

add_compile_options(-Wall -Wextra -Wshadow -Wpointer-arith -fno-omit-frame-pointer)
add_compile_options($<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes> $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>)
add_compile_definitions(_GNU_SOURCE)
# For the programs only: the version changes with each commit, and the stages need not be compiled again for it.
set(ARGUS_VERSION_DEFINITION ARGUS_VERSION="${ARGUS_VERSION_TEXT}")
if(ARGUS_WERROR)
  add_compile_options(-Werror)
endif()
if(ARGUS_SANITIZE)
  add_compile_options(-fsanitize=${ARGUS_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${ARGUS_SANITIZE})
  if(ARGUS_SANITIZE STREQUAL "thread")
    # gcc says that it does not follow fences. Those of the recorder order it and the kernel, which no sanitizer sees.
    add_compile_options($<$<C_COMPILER_ID:GNU>:-Wno-tsan>)
  endif()
endif()
