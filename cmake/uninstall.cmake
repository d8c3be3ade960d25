# `cmake --build build --target uninstall`: removes the files that the last `cmake --install` wrote, and the folders that it made,
# if they are empty by then. Include it before anything is installed: rules run in the order in which they are declared.
#
# install_manifest.txt has the files. The folders are noted before they are made: what the generated scripts name as
# DESTINATION, and is not there yet.
install(CODE "
  set(ARGUS_BINARY_DIR \"${CMAKE_BINARY_DIR}\")
  include(\"${CMAKE_CURRENT_LIST_DIR}/uninstall_folders.cmake\")")
add_custom_target(uninstall
  COMMAND ${CMAKE_COMMAND} -DARGUS_BINARY_DIR=${CMAKE_BINARY_DIR} -P ${CMAKE_CURRENT_LIST_DIR}/uninstall_files.cmake
  COMMENT "Removing what install_manifest.txt lists" VERBATIM)
