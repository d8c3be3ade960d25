/* Sockets: the processes that have the other end open. */
#include <sys/socket.h>

#include "live/live_wait.h"

/* When this client's request was sent, if its server has read it. */
static uint64_t asked_ns(struct argus_live *live, const struct live_socket *own)
{
    const struct live_socket client = *own, *server = live_socket(live, client.peer);
    return client.family == AF_INET && client.sent_last && !client.unread && server &&
                   !server->is_listening && !server->unread && !live_is_accepted(live, &client)
               ? client.sent_ns
               : 0;
}

/* When a client of a unix socket began to wait, if its server has read all it sent: the kernel does
 * not keep when that was. The client may have done something in between, so it only tells that a
 * thread which has slept ever since well before has nothing to do with the request. */
static uint64_t waits_since_ns(struct argus_live *live, uint32_t thread,
                               const struct argus_live_wait *wait, const struct live_socket *own)
{
    const struct live_socket client = *own, *server = live_socket(live, client.peer);
    return wait->kind == ARGUS_LIVE_UNIX_SOCKET && !wait->is_write && !wait->has_timeout &&
                   live->threads.data[thread].state == 'S' && !client.unread && server &&
                   !server->is_listening && !server->unread
               ? live_last_ran_ns(live, thread)
               : 0;
}

/* Of several requests, the first counts; if that is not known of one, of all. */
static void keep_asked(struct live_candidates *candidates, uint64_t asked_ns)
{
    if (!candidates->count || asked_ns < candidates->asked_ns)
        candidates->asked_ns = asked_ns;
}

void live_by_socket(struct argus_live *live, uint32_t thread, const struct argus_live_wait *wait,
                    struct live_candidates *ret)
{
    const struct live_socket *own = live_socket(live, wait->object);
    uint32_t process = live->threads.data[thread].process;
    const struct live_fd *fds;
    if (!own || own->is_remote) {
        ret->end = own ? ARGUS_LIVE_END_REMOTE : ARGUS_LIVE_END_UNKNOWN;
        return;
    }
    if (own->family == AF_UNIX) {
        ret->asked_ns = waits_since_ns(live, thread, wait, own);
        ret->is_asked_guess = true;
    } else {
        keep_asked(ret, asked_ns(live, own));
    }
    own = live_socket(live, wait->object);
    uint64_t peer = own->peer;
    const struct live_socket *other = live_socket(live, peer);
    ret->link = other && other->is_listening ? ARGUS_LIVE_LINK_ACCEPTS : ARGUS_LIVE_LINK_PEER;
    if (!peer) {
        ret->end = ARGUS_LIVE_END_UNKNOWN;
        return;
    }
    size_t count = live_fds_of(live, LIVE_FILE_SOCKET, peer, &fds);
    for (size_t i = 0; i < count; i++)
        if ((fds[i].process != process || live->processes.data[process].thread_count > 1) &&
            live_load(live, fds[i].process))
            live_candidate(ret, fds[i].process, ARGUS_LIVE_NONE);
    /* the kernel has the peer, but no process whose descriptors are readable has it */
    ret->end = ARGUS_LIVE_END_DENIED;
}

void live_wait_for_socket(struct argus_live *live, const struct live_fd *fd,
                          struct argus_live_wait *wait)
{
    const struct live_socket *socket = live_socket(live, fd->key);
    wait->kind = ARGUS_LIVE_SOCKET;
    wait->object = fd->key;
    if (!socket)
        return;
    const struct live_socket found = *socket, *peer = live_socket(live, found.peer);
    wait->kind = found.is_listening        ? ARGUS_LIVE_ACCEPT
                 : found.family == AF_UNIX ? ARGUS_LIVE_UNIX_SOCKET
                 : found.is_datagram       ? ARGUS_LIVE_UDP
                                           : ARGUS_LIVE_TCP;
    wait->text = found.path ? found.path : peer ? peer->path : 0;
    if (!wait->text)
        wait->text = live_remote_address(live, &found);
    wait->unread_here = found.unread;
    wait->unread_there = peer && !peer->is_listening ? peer->unread : 0;
}
