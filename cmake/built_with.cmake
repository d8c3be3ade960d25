# argus_built_with(FILE…): the build information of `argus --version` and `argus-recorder --version`, as definitions for these
# source files: ARGUS_VERSION, ARGUS_BUILT_COMPILER, ARGUS_BUILT_RECORDER and ARGUS_BUILT_LIBRARIES. Call it after
# add_subdirectory(recorder), which finds the compiler of the BPF programs.

# "clang 14.0.6" from the compiler's version output.
function(argus_version_of_clang program ret)
  execute_process(COMMAND ${program} --version OUTPUT_VARIABLE text ERROR_QUIET)
  if(text MATCHES "clang version ([0-9.]+)")
    set(${ret} "clang ${CMAKE_MATCH_1}" PARENT_SCOPE)
  else()
    set(${ret} "${program}" PARENT_SCOPE)
  endif()
endfunction()

# To add a library: a pair.
function(argus_built_libraries ret)
  set(found "")
  foreach(pair "zlib:${ZLIB_VERSION_STRING}" "zstd:${ZSTD_VERSION}" "libsodium:${SODIUM_VERSION}" "elfutils:${LIBDW_libdw_VERSION}" "capstone:${CAPSTONE_VERSION}"
               "jansson:${JANSSON_VERSION}" "popt:${POPT_VERSION}" "libedit:${EDIT_VERSION}" "libplist:${PLIST_VERSION}"
               "sqlite:${SQLITE3_VERSION}")
    string(REGEX MATCH "^([^:]+):(.+)$" known "${pair}")
    if(known) # elfutils and libsodium are only on Linux, zstd optional
      list(APPEND found "${CMAKE_MATCH_1} ${CMAKE_MATCH_2}")
    endif()
  endforeach()
  list(JOIN found ", " found)
  set(${ret} "${found}" PARENT_SCOPE)
endfunction()

function(argus_built_with)
  set(recorder "kdebug")
  set(zstd "")
  if(ZSTD_FOUND)
    set(zstd ", zstd ${ZSTD_VERSION}")
  endif()
  get_property(compiler_of_bpf GLOBAL PROPERTY ARGUS_BPF_COMPILER)
  if(compiler_of_bpf)
    set(recorder "libbpf ${LIBBPF_VERSION}, zlib ${ZLIB_VERSION_STRING}${zstd}, libsodium ${SODIUM_VERSION}, BPF programs by ${compiler_of_bpf}")
  endif()
  argus_built_libraries(libraries)
  string(TOLOWER "${CMAKE_C_COMPILER_ID}" compiler)
  string(REPLACE "gnu" "gcc" compiler "${compiler}")
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_DEFINITIONS
    "${ARGUS_VERSION_DEFINITION};ARGUS_BUILT_COMPILER=\"${compiler} ${CMAKE_C_COMPILER_VERSION}\";ARGUS_BUILT_RECORDER=\"${recorder}\";ARGUS_BUILT_LIBRARIES=\"${libraries}\"")
endfunction()
