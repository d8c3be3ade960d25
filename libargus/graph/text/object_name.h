/* What objects are called: the paths of files, and the other ends of sockets. */
#ifndef ARGUS_GRAPH_OBJECT_NAME_H
#define ARGUS_GRAPH_OBJECT_NAME_H

#include "argus/graph.h"

/* An object for which a thread waits. */
struct object_of_wait {
    const struct argus_graph *graph;
    uint32_t thread;
    uint64_t inode, peer, type; /* as in struct argus_wait */
};

/* The path of a file in whose call `thread` waited; NULL: not known, or several files of different
 * file systems have this inode. */
const char *file_path_of(const struct argus_graph *graph, uint64_t inode, uint32_t thread);

/* The other end of a socket: the last one that was known at `time_ns`; NULL: not known. */
const struct argus_remote *remote_of(const struct argus_graph *graph, uint64_t inode,
                                     uint64_t time_ns);

/* "192.0.2.1". Returns `buffer`. */
const char *remote_address_text(const struct argus_remote *remote, char *buffer, size_t bytes);
/* "UDP". */
const char *remote_protocol_text(const struct argus_remote *remote);

/* "192.0.2.1:53", "[2001:db8::1]:53". */
const char *remote_text(const struct argus_remote *remote, char *buffer, size_t bytes);

/* As object_text(), with the path instead of the inode, or with the other end: "UDP socket 77 to
 * 192.0.2.1:53". */
const char *object_named_text(const struct object_of_wait *object, char *buffer, size_t bytes);

#endif
