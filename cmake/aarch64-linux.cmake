# Cross-compiling for arm64 Linux by Debian's cross compiler (docs/arm64.md):
#
#   scripts/arm64-root FOLDER
#   cmake --toolchain cmake/aarch64-linux.cmake -DARGUS_SYSROOT=FOLDER …
#
# The BPF programs are compiled by this machine's clang. `scripts/arm64-run FOLDER ctest …` runs the
# tests. CMAKE_CROSSCOMPILING_EMULATOR is not set: CMake before 3.29 puts it in front of this machine's python as well.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ARGUS_SYSROOT)
get_filename_component(ARGUS_SYSROOT "${ARGUS_SYSROOT}" ABSOLUTE)

set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_SYSROOT ${ARGUS_SYSROOT})
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

# The man pages are made by the program itself.
find_program(ARGUS_QEMU qemu-aarch64-static)
if(ARGUS_QEMU)
  set(ARGUS_TARGET_RUNNER ${ARGUS_QEMU} -L ${ARGUS_SYSROOT})
endif()

# Libraries of the folder only. LLDB's headers may be this machine's, and so are python, clang and go-md2man.
set(ENV{PKG_CONFIG_LIBDIR} ${ARGUS_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${ARGUS_SYSROOT}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${ARGUS_SYSROOT})
set(CMAKE_FIND_ROOT_PATH ${ARGUS_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE BOTH)
