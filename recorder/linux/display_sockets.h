/* Sockets of display servers, which are known by the addresses that the protocols of X11 and
 * Wayland define. */
#ifndef ARGUS_RECORDER_LINUX_DISPLAY_SOCKETS_H
#define ARGUS_RECORDER_LINUX_DISPLAY_SOCKETS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

/* Whether a display server listens at the UNIX socket with this path. An abstract path comes
 * without its first byte. */
bool display_path(const char *path);

/* Inodes, ascending. */
typedef VEC(uint64_t) inode_list;

/* Appends the inode of each socket in `table` (in the form of /proc/net/unix) that listens at such
 * a path or was accepted there. The ends that the clients have are not among them. Nothing if the
 * file cannot be read. False without memory. */
bool display_sockets_read(const char *table, inode_list *ret);
bool display_sockets_have(const inode_list *sockets, uint64_t inode);

#endif
