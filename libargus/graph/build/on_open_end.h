/* The descriptors of pipes and sockets that processes had open when the recording ended:
 * on_open_end.c. */
#ifndef ARGUS_GRAPH_ON_OPEN_END_H
#define ARGUS_GRAPH_ON_OPEN_END_H

#include "graph/build/builder.h"

struct open_fd {
    uint64_t inode;
    uint64_t mode; /* the file type, as in ARGUS_ID_OBJECT; 0: not known */
};

struct open_fds *open_fds_create(void);
void open_fds_destroy(struct open_fds *fds);

/* The main thread of the only process that had the socket `inode` open; ARGUS_NONE: there is none,
 * or there are several. After finish_open_ends(). */
uint32_t open_end_owner(const struct builder *builder, uint64_t inode);

/* Descriptor `fd` of the process whose main thread is `thread`; NULL: none that is known. */
const struct open_fd *open_fd_find(const struct open_fds *fds, uint32_t thread, uint64_t fd);

#endif
