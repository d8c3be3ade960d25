/* The object that a descriptor refers to, as text for people. */
#ifndef ARGUS_GRAPH_OBJECT_TEXT_H
#define ARGUS_GRAPH_OBJECT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* E.g. "unix socket 12345, peer 12346", "pipe 99", "eventfd"; "inode 99" if only the inode is
 * known, "" if nothing is. `type` is arg4 of the record `object`. Returns `buffer`. */
const char *object_text(uint64_t inode, uint64_t peer, uint64_t type, char *buffer, size_t bytes);

/* Whether the object is an epoll set, by `type` as above. */
bool object_is_epoll_set(uint64_t type);
/* Whether it is a timer's, of timerfd_create(). */
bool object_is_timer(uint64_t type);
bool object_is_pipe(uint64_t type);
bool object_is_file(uint64_t type); /* a regular file */
bool object_is_inet(uint64_t type); /* a socket of IPv4 or IPv6 */

#endif
