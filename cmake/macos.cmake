# Cross-compiling for macOS by zig (scripts/macos-build does all of it):
#
#   scripts/macos-sysroot FOLDER aarch64
#   cmake --toolchain cmake/macos.cmake -DARGUS_SYSROOT=FOLDER …
set(CMAKE_SYSTEM_NAME Darwin)
file(STRINGS ${ARGUS_SYSROOT}/arch CMAKE_SYSTEM_PROCESSOR)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ARGUS_SYSROOT)

foreach(language_tool C:cc CXX:c++)
  string(REPLACE ":" ";" language_tool ${language_tool})
  list(GET language_tool 0 language)
  list(GET language_tool 1 tool)
  set(CMAKE_${language}_COMPILER ${ARGUS_SYSROOT}/bin/${tool})
endforeach()
set(CMAKE_AR ${ARGUS_SYSROOT}/bin/ar)
set(CMAKE_RANLIB ${ARGUS_SYSROOT}/bin/ranlib)
set(CMAKE_INSTALL_NAME_TOOL true) # files have their final names when they are linked
set(CMAKE_OSX_SYSROOT "")
set(CMAKE_OSX_ARCHITECTURES "")
set(CMAKE_OSX_DEPLOYMENT_TARGET "") # part of the compiler's command
# zig's linker signs by itself and knows neither of these.
set(CMAKE_PLATFORM_HAS_INSTALLNAME 0)
set(CMAKE_SHARED_LIBRARY_CREATE_C_FLAGS "-dynamiclib")
set(CMAKE_SHARED_LIBRARY_CREATE_CXX_FLAGS "-dynamiclib")

# Only the headers and stubs of the sysroot, nothing of this machine.
set(ENV{PKG_CONFIG_LIBDIR} ${ARGUS_SYSROOT}/lib/pkgconfig)
set(CMAKE_PREFIX_PATH ${ARGUS_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE BOTH)
set(CMAKE_FIND_ROOT_PATH ${ARGUS_SYSROOT})
set(ZLIB_INCLUDE_DIR ${ARGUS_SYSROOT}/include)
set(ZLIB_LIBRARY ${ARGUS_SYSROOT}/lib/libz.tbd)
set(UTHASH_INCLUDE_DIR ${ARGUS_SYSROOT}/include)
