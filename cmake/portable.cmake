# Compiling against an older release's libraries, for a tarball that runs on newer ones as well (scripts/portable):
#
#   cmake --toolchain cmake/portable.cmake -DARGUS_SYSROOT=FOLDER …
#
# The folder has only archives of everything but glibc.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ARGUS_SYSROOT)
set(CMAKE_SYSROOT ${ARGUS_SYSROOT})

# clang takes libstdc++ and libgcc from the sysroot; gcc would look there for its own version of them.
foreach(language_tool C:clang CXX:clang++ ASM:clang)
  string(REPLACE ":" ";" language_tool ${language_tool})
  list(GET language_tool 0 language)
  list(GET language_tool 1 tool)
  find_program(ARGUS_${tool} NAMES ${tool}-14 ${tool}-18 ${tool}-19 ${tool} REQUIRED)
  set(CMAKE_${language}_COMPILER ${ARGUS_${tool}})
endforeach()

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE BOTH) # LLDB's headers are this machine's
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_PREFIX_PATH /usr/local)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${ARGUS_SYSROOT})
set(ENV{PKG_CONFIG_PATH} "")
file(GLOB pkgconfig_folders ${ARGUS_SYSROOT}/usr/lib/*/pkgconfig)
list(JOIN pkgconfig_folders ":" pkgconfig_folders)
set(ENV{PKG_CONFIG_LIBDIR} "${ARGUS_SYSROOT}/usr/local/lib/pkgconfig:${ARGUS_SYSROOT}/usr/share/pkgconfig:${pkgconfig_folders}")

# What the archives need in their turn, and what glibc 2.31 has in files of their own. Unused ones leave no trace.
set(indirect "-Wl,--as-needed -L${ARGUS_SYSROOT}/usr/local/lib -lelf -leu -llzma -lzstd -lz -ltinfo -lpthread -ldl -lm")
set(CMAKE_C_STANDARD_LIBRARIES_INIT ${indirect})
set(CMAKE_CXX_STANDARD_LIBRARIES_INIT ${indirect})
set(CMAKE_C_STANDARD_LIBRARIES ${indirect})
set(CMAKE_CXX_STANDARD_LIBRARIES ${indirect})
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static-libgcc")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-static-libgcc")
# -Bsymbolic: some archives are not compiled for shared objects, and may refer to their own data only if nobody can replace it.
set(CMAKE_MODULE_LINKER_FLAGS_INIT "-static-libgcc -static-libstdc++ -Wl,-Bsymbolic")

# What glibc 2.31, and the headers of Linux 5.5 and older, do not declare yet. The call has this number in every table.
foreach(language C CXX)
  set(CMAKE_${language}_FLAGS_INIT "-isystem ${CMAKE_CURRENT_LIST_DIR}/portable -DSYS_pidfd_getfd=438")
endforeach()
