/* A server that ignores all clients but one.
 *
 * An X server does so while a client has grabbed it (XGrabServer): its epoll set keeps the
 * connections of the others, but no longer waits for data from them (os/connection.c,
 * set_poll_clients()). Such a server seems to have nothing to do, with requests in its sockets. A
 * server that stops reading from a few clients, because they ask too much, goes on with most. One
 * whose threads take a client each waits for no data from those that they serve (EPOLLONESHOT):
 * this is no grab. */
#include <sys/socket.h>

#include "live/live_set.h"

enum { MOST_HEARD = 4 };

/* One that this process accepted. */
static bool accepted(struct argus_live *live, uint32_t process, uint32_t number,
                     struct live_socket *ret)
{
    struct live_fd fd;
    if (!live_fd(live, process, number, &fd) || fd.type != LIVE_FILE_SOCKET)
        return false;
    const struct live_socket *socket = live_socket(live, fd.key);
    if (!socket || socket->is_listening || socket->family != AF_UNIX || !socket->path ||
        !socket->peer)
        return false;
    *ret = *socket;
    return true;
}

void live_only_clients(struct argus_live *live, uint32_t thread, const struct live_polled *polled,
                       uint32_t count, struct live_candidates *ret)
{
    uint32_t process = live->threads.data[thread].process, heard = 0, ignored = 0;
    uint64_t clients[MOST_HEARD];
    bool has_request = false;
    for (uint32_t i = 0; i < count; i++) {
        struct live_socket socket;
        if (!accepted(live, process, polled[i].fd, &socket))
            continue;
        if (polled[i].is_once)
            return;
        if (polled[i].is_read && heard == MOST_HEARD)
            return;
        if (polled[i].is_read)
            clients[heard++] = socket.inode;
        ignored += !polled[i].is_read;
        has_request |= !polled[i].is_read && socket.unread;
    }
    if (!has_request || ignored <= heard)
        return;
    for (uint32_t i = 0; i < heard; i++) {
        const struct argus_live_wait one = {.kind = ARGUS_LIVE_EVENTS, .object = clients[i]};
        live_by_socket(live, thread, &one, ret);
    }
    ret->link = ARGUS_LIVE_LINK_HEARD;
}
