# Debian packages by CPack: argus, and argus-dbgsym with the debug symbols. They hold what the folders install, so there is nothing to
# add here for a new file.
#
#   cmake -S . -B build -G Ninja -DCMAKE_INSTALL_PREFIX=/usr -DARGUS_TESTS=OFF && cmake --build build
#   (cd build && cpack)
#
# scripts/release does that for each release in a root of its own: a package depends on what it links, by that release's names.
if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
  return()
endif()

# Behind the version: ~debian12 and the like, so that an upgrade of the system brings a newer package.
set(ARGUS_PACKAGE_RELEASE "" CACHE STRING "Suffix of the packages' version, e.g. ~debian12")

install(FILES LICENSE RENAME copyright DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

# `plugin load libargus.so`: LLDB searches no folder for a name without a path (LLDB 14 to 22), and hands it to the dynamic linker,
# which finds this link.
file(RELATIVE_PATH plugin_from_there /${CMAKE_INSTALL_LIBDIR} /${ARGUS_PLUGIN_DIR}/libargus.so)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/plugin-by-name)
file(CREATE_LINK ${plugin_from_there} ${CMAKE_BINARY_DIR}/plugin-by-name/libargus.so SYMBOLIC)
install(FILES ${CMAKE_BINARY_DIR}/plugin-by-name/libargus.so DESTINATION ${CMAKE_INSTALL_LIBDIR})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME argus)
set(CPACK_PACKAGE_VERSION ${ARGUS_VERSION_TEXT}${ARGUS_PACKAGE_RELEASE})
set(CPACK_PACKAGE_CONTACT "The Argus developers <argus@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_STRIP_FILES OFF) # argus-dbgsym takes the debug symbols out
set(CPACK_SET_DESTDIR ON) # argus.lldbinit names the plugin's final path
set(CPACK_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "lldb, libsystemd0") # the second by dlopen: desktop notifications
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "sudo")
set(CPACK_DEBIAN_DEBUGINFO_PACKAGE ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/share/debian/prerm)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PACKAGE_DESCRIPTION
  "Argus records what the whole system did, builds a graph of which thread
caused what, and walks it from the frozen thread back to the root cause:
in a shell, or inside LLDB. Recording needs root and a kernel with BTF.")
include(CPack)
