# All third-party libraries, in one place. docs/libraries.md says why each was chosen.
find_package(PkgConfig REQUIRED)
find_package(ZLIB REQUIRED)
option(ARGUS_ZSTD "pack traces with zstd, where libzstd is found" ON)
if(ARGUS_ZSTD)
  pkg_check_modules(ZSTD IMPORTED_TARGET libzstd>=1.4.0) # the first version with ZSTD_compress2()
endif()
find_package(Threads REQUIRED)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(POPT REQUIRED IMPORTED_TARGET popt)
pkg_check_modules(EDIT REQUIRED IMPORTED_TARGET libedit)
pkg_check_modules(CAPSTONE REQUIRED IMPORTED_TARGET capstone)
pkg_check_modules(SQLITE3 REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(PLIST REQUIRED IMPORTED_TARGET libplist-2.0)
# Perfetto's format, for argus-import and `argus graph export`; without it, they lack that format.
pkg_check_modules(PROTOBUF_C IMPORTED_TARGET libprotobuf-c)
find_program(PROTOC_C protoc-c)
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  pkg_check_modules(LIBDW REQUIRED IMPORTED_TARGET libdw libelf)
  pkg_check_modules(LIBBPF REQUIRED IMPORTED_TARGET libbpf)
  pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium>=1.0.12) # the first version with XChaCha20-Poly1305
endif()
if(ARGUS_TESTS)
  pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
endif()
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  # How BPF programs find the headers of the kernel and of libbpf; of another machine when cross-compiling.
  set(ARGUS_BPF_HEADERS -idirafter ${CMAKE_SYSROOT}/usr/include/${CMAKE_LIBRARY_ARCHITECTURE})
  if(CMAKE_SYSROOT)
    list(PREPEND ARGUS_BPF_HEADERS --sysroot=${CMAKE_SYSROOT})
  endif()
endif()
find_path(UTHASH_INCLUDE_DIR uthash.h REQUIRED)

# LLDB: only its headers. The plugin is deliberately not linked against liblldb, so that one file loads in 14 to 22.
find_path(LLDB_INCLUDE_DIR lldb/API/LLDB.h
  PATHS /usr/lib/llvm-14/include /usr/lib/llvm-16/include /usr/lib/llvm-18/include /usr/lib/llvm-19/include
        /opt/homebrew/opt/llvm/include)
