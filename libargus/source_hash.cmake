# Writes a header with a hash of the sources that decide what a graph is: cmake -DOUTPUT=FILE -DROOT=DIR -P source_hash.cmake
# Graphs that are saved by one build are not used by another one that may build them differently.
file(GLOB_RECURSE sources RELATIVE ${ROOT}
  ${ROOT}/base/*.[ch] ${ROOT}/trace/*.[ch] ${ROOT}/event/*.[ch] ${ROOT}/event/*.def ${ROOT}/graph/*.[ch] ${ROOT}/graph/*.def
  ${ROOT}/include/*.h)
list(SORT sources)
foreach(source ${sources})
  file(SHA256 ${ROOT}/${source} hash)
  string(APPEND all "${source} ${hash}\n")
endforeach()
string(SHA256 hash "${all}")
string(SUBSTRING ${hash} 0 16 hash)
file(WRITE ${OUTPUT} "/* Made by libargus/source_hash.cmake. */\n#define GRAPH_SOURCE_HASH 0x${hash}u\n")
