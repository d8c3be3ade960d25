/* What is behind a descriptor, for people. */
#ifndef ARGUS_GRAPH_OBJECT_TEXT_H
#define ARGUS_GRAPH_OBJECT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* E.g. "unix socket 12345, peer 12346", "pipe 99", "eventfd"; "inode 99" where only that is known, "" where nothing is.
 * `type` is arg4 of the record `object`. Returns `buffer`. */
const char *object_text(uint64_t inode, uint64_t peer, uint64_t type, char *buffer, size_t bytes);

/* Whether what is behind a descriptor is such a thing, by `type` as above. */
bool object_is_epoll_set(uint64_t type);
bool object_is_pipe(uint64_t type);

#endif
