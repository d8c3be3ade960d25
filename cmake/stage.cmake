# argus_stage(NAME SOURCES ... DEPENDS ...): one stage of the dataflow as an OBJECT library `argus_NAME`.
# DEPENDS names earlier stages (their include folders become visible) and imported libraries.
function(argus_stage name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(argus_${name} OBJECT ${ARG_SOURCES})
  target_include_directories(argus_${name} PUBLIC
    ${PROJECT_SOURCE_DIR}/libargus/include ${PROJECT_SOURCE_DIR}/libargus)
  target_include_directories(argus_${name} SYSTEM PUBLIC ${UTHASH_INCLUDE_DIR})
  target_link_libraries(argus_${name} PUBLIC ${ARG_DEPENDS})
endfunction()
