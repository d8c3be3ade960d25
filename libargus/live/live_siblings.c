/* Processes that share memory with the last one of the path, and serve clients: a database's
 * backends. Their locks are in that memory, where only the program itself can read them. So none of
 * them is blamed; but what each one says about itself, and which client it serves, often tells the
 * holder. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "live/live_wait.h"

enum { PATH_BYTES = 512 };

/* Whether this process has accepted the connection; `*ret`: a thread of the process at its other
 * end, or ARGUS_LIVE_NONE if that is on another machine or may not be seen. */
static bool serves_client(struct argus_live *live, const struct live_fd *fd, uint32_t *ret)
{
    const struct live_socket *found = live_socket(live, fd->key);
    const struct live_fd *fds;
    *ret = ARGUS_LIVE_NONE;
    if (!found || !live_is_accepted(live, found))
        return false;
    const struct live_socket own = *found;
    size_t count = own.peer ? live_fds_of(live, LIVE_FILE_SOCKET, own.peer, &fds) : 0;
    for (size_t i = 0; i < count && *ret == ARGUS_LIVE_NONE; i++)
        if (fds[i].process != fd->process && live_load(live, fds[i].process))
            *ret = live->processes.data[fds[i].process].first_thread;
    return true;
}

static bool find_client(struct argus_live *live, uint32_t process, uint32_t *ret)
{
    live_fds(live);
    for (size_t i = 0; i < live->fds.length; i++) {
        const struct live_fd fd = live->fds.data[i];
        if (fd.process == process && fd.type == LIVE_FILE_SOCKET && serves_client(live, &fd, ret))
            return true;
    }
    return false;
}

void live_siblings(struct argus_live *live, uint32_t process, live_sibling *take, void *context)
{
    struct live_memory_id id;
    uint32_t pid = live->processes.data[process].pid, parent = live_parent_of(live, process);
    uint32_t client;
    if (!live_written_memory(pid, &id) || !find_client(live, process, &client))
        return;
    for (uint32_t i = 0; i < live->processes.length; i++)
        if (i != process && live_parent_of(live, i) == parent &&
            live_has_same_program(live, i, process) &&
            live_maps(live->processes.data[i].pid, &id) && find_client(live, i, &client) &&
            live_load(live, i))
            take(context, live->processes.data[i].first_thread, client);
}
