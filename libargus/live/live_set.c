/* Waits for several descriptors at once: poll, select, epoll.
 *
 * Most such waits are event loops that have nothing to do, so nobody is to blame. Two things tell
 * more: all descriptors lead to one other process (and to children), and it does not read what this
 * one wants to write; or this process has connected to a server, and the server has not read what
 * was sent, or not even accepted the connection. Then these probably have to act. A server's own
 * wait, with clients that do not read, tells nothing: these clients are bystanders. */
#include "live/live_set.h"

#include <poll.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>

enum { BITS_OF_WORD = 64 };

uint32_t live_polled_add(struct live_polled *ret, uint32_t count, uint32_t fd, bool reads,
                         bool writes)
{
    if (count > 0 && ret[count - 1].fd == fd) {
        ret[count - 1].is_write &= writes && !reads;
        ret[count - 1].is_read |= reads;
        ret[count - 1].is_full |= writes;
        return count;
    }
    if (count < LIVE_POLLED)
        ret[count++] = (struct live_polled){fd, writes && !reads, reads, false, writes};
    return count;
}

static uint32_t of_poll(struct argus_live *live, uint32_t thread, struct live_polled *ret)
{
    const struct argus_live_thread *of = &live->threads.data[thread];
    struct pollfd polled[LIVE_POLLED];
    uint64_t count = of->arg[1] < LIVE_POLLED ? of->arg[1] : LIVE_POLLED;
    uint32_t open = 0;
    if (!count ||
        !live_memory(live_pid_of(live, thread), of->arg[0], polled, count * sizeof(polled[0])))
        return 0;
    for (uint64_t i = 0; i < count; i++)
        if (polled[i].fd >= 0)
            open = live_polled_add(ret, open, (uint32_t)polled[i].fd, polled[i].events & POLLIN,
                                   polled[i].events & POLLOUT);
    return open;
}

/* Sets have a bit for each descriptor: of reading, writing, exceptions. */
static uint32_t of_select(struct argus_live *live, uint32_t thread, struct live_polled *ret)
{
    const struct argus_live_thread *of = &live->threads.data[thread];
    uint64_t words[3][FD_SETSIZE / BITS_OF_WORD] = {{0}};
    uint64_t most = of->arg[0] < FD_SETSIZE ? of->arg[0] : FD_SETSIZE;
    size_t bytes = (most + BITS_OF_WORD - 1) / BITS_OF_WORD * sizeof(words[0][0]);
    uint32_t count = 0;
    for (int set = 0; set < 3; set++)
        if (of->arg[1 + set] &&
            !live_memory(live_pid_of(live, thread), of->arg[1 + set], words[set], bytes))
            memset(words[set], 0, sizeof(words[set]));
    for (uint32_t fd = 0; fd < most; fd++) {
        bool has[3];
        for (int set = 0; set < 3; set++)
            has[set] = words[set][fd / BITS_OF_WORD] >> fd % BITS_OF_WORD & 1;
        if (has[0] || has[1] || has[2])
            count = live_polled_add(ret, count, fd, has[0], has[1]);
    }
    return count;
}

/* To add a call: a row. */
static const struct {
    const char *name;
    uint32_t (*read)(struct argus_live *live, uint32_t thread, struct live_polled *ret);
} readers[] = {
    {"poll", of_poll},
    {"ppoll", of_poll},
    {"poll_nocancel", of_poll},
    {"select", of_select},
    {"pselect6", of_select},
    {"select_nocancel", of_select},
    {"pselect", of_select},
    {"pselect_nocancel", of_select},
    {"epoll_wait", live_set_of_epoll},
    {"epoll_pwait", live_set_of_epoll},
    {"epoll_pwait2", live_set_of_epoll},
};

uint32_t live_set_of(struct argus_live *live, uint32_t thread, struct live_polled *ret)
{
    const char *name = argus_live_call_name(&live->threads.data[thread]);
    for (size_t i = 0; name && i < sizeof(readers) / sizeof(readers[0]); i++)
        if (strcmp(readers[i].name, name) == 0)
            return readers[i].read(live, thread, ret);
    return 0;
}

bool live_set_is_empty(struct argus_live *live, uint32_t thread)
{
    const struct argus_live_thread *of = &live->threads.data[thread];
    const char *name = argus_live_call_name(of);
    if (name && strstr(name, "select"))
        return !of->arg[0] || (!of->arg[1] && !of->arg[2] && !of->arg[3]);
    return !of->arg[1];
}

/* Whether this process is the client of the connection: the server's end has the name, or, with
 * TCP, a port at which somebody listens. The two ends of a socketpair have no such roles. */
static bool is_client(struct argus_live *live, const struct live_socket *own,
                      const struct live_socket *peer)
{
    if (own->family == AF_UNIX)
        return !own->path && peer->path;
    return live_port_listens(live, peer->local_port) && !live_port_listens(live, own->local_port);
}

/* The other end of the connection, on this machine and accepted; NULL: none. */
static const struct live_socket *peer_of(struct argus_live *live, uint32_t process, uint32_t number,
                                         struct live_socket *ret_own)
{
    struct live_fd fd;
    if (!live_fd(live, process, number, &fd) || fd.type != LIVE_FILE_SOCKET)
        return NULL;
    const struct live_socket *socket = live_socket(live, fd.key);
    if (!socket || socket->is_listening || socket->is_remote || !socket->peer)
        return NULL;
    *ret_own = *socket;
    const struct live_socket *peer = live_socket(live, ret_own->peer);
    return peer && !peer->is_listening ? peer : NULL;
}

/* Bytes of ours that the server of this connection has not read. */
static uint64_t unread_by_server(struct argus_live *live, uint32_t process, uint32_t number,
                                 uint64_t *ret_inode)
{
    struct live_socket own;
    const struct live_socket *peer = peer_of(live, process, number, &own);
    if (!peer || !is_client(live, &own, peer))
        return 0;
    *ret_inode = own.inode;
    return peer->unread;
}

/* Whether the process sent a request on this TCP connection, and has received nothing since.
 * Connections that only wait for the next request have received last: the answer. */
static bool awaits_answer(struct argus_live *live, uint32_t process, uint32_t number,
                          uint64_t *ret_inode)
{
    struct live_fd fd;
    if (!live_fd(live, process, number, &fd) || fd.type != LIVE_FILE_SOCKET)
        return false;
    const struct live_socket *socket = live_socket(live, fd.key);
    if (!socket || socket->family != AF_INET || !socket->is_connected || socket->is_datagram ||
        socket->unread || live_is_accepted(live, socket))
        return false;
    *ret_inode = socket->inode;
    return socket->sent_last;
}

/* Whether this process has connected to a unix socket, and the server has not accepted that. */
static bool is_not_accepted(struct argus_live *live, uint32_t process, uint32_t number,
                            uint64_t *ret_inode)
{
    struct live_fd fd;
    if (!live_fd(live, process, number, &fd) || fd.type != LIVE_FILE_SOCKET)
        return false;
    const struct live_socket *own = live_socket(live, fd.key);
    if (!own || own->family != AF_UNIX || own->is_listening || !own->peer)
        return false;
    *ret_inode = own->inode;
    const struct live_socket *peer = live_socket(live, own->peer);
    return peer && peer->is_listening;
}

typedef bool live_polled_test(struct argus_live *live, uint32_t process, uint32_t number,
                              uint64_t *ret_inode);

static bool is_unread(struct argus_live *live, uint32_t process, uint32_t number,
                      uint64_t *ret_inode)
{
    return unread_by_server(live, process, number, ret_inode) > 0;
}

/* Those at the other end of each polled connection that passes the test. */
static void add_servers(struct argus_live *live, uint32_t thread, const struct live_polled *polled,
                        uint32_t count, live_polled_test *test, struct live_candidates *ret)
{
    for (uint32_t i = 0; i < count; i++) {
        struct argus_live_wait one = {.kind = ARGUS_LIVE_EVENTS, .fd = polled[i].fd};
        if (test(live, live->threads.data[thread].process, polled[i].fd, &one.object))
            live_by_socket(live, thread, &one, ret);
    }
}

/* The processes at the other end of a pipe, or of a connection whose server is not this process.
 * False: another kind of descriptor. */
static bool add_ends(struct argus_live *live, uint32_t thread, const struct live_polled *polled,
                     struct live_candidates *ret)
{
    struct argus_live_wait one = {
        .kind = ARGUS_LIVE_EVENTS, .fd = polled->fd, .is_write = polled->is_full};
    struct live_fd fd;
    if (!live_fd(live, live->threads.data[thread].process, one.fd, &fd))
        return false;
    one.object = fd.key;
    if (fd.type == LIVE_FILE_PIPE)
        live_by_pipe(live, thread, &one, ret);
    if (fd.type != LIVE_FILE_SOCKET)
        return fd.type == LIVE_FILE_PIPE;
    const struct live_socket *own = live_socket(live, fd.key);
    bool has_end = own && own->peer && !own->is_remote && !live_is_accepted(live, own);
    if (has_end)
        live_by_socket(live, thread, &one, ret);
    return has_end;
}

/* Those that do not read from pipes and connections without room, if all descriptors lead to them,
 * or to processes that this one has started: an event loop with other sources has other work, and a
 * server is not held up by its clients. */
static void add_readers(struct argus_live *live, uint32_t thread, const struct live_polled *polled,
                        uint32_t count, struct live_candidates *ret)
{
    bool is_all = true;
    for (uint32_t i = 0; i < count; i++)
        if (polled[i].is_full)
            is_all &= add_ends(live, thread, &polled[i], ret);
    uint32_t full = ret->count, process = live->threads.data[thread].process;
    for (uint32_t i = 0; i < count && full; i++)
        if (!polled[i].is_full)
            is_all &= add_ends(live, thread, &polled[i], ret);
    for (uint32_t i = full; i < ret->count; i++)
        is_all &= live_descends_from(live, ret->items[i].process, process);
    ret->count = is_all ? full : 0;
    ret->link = ARGUS_LIVE_LINK_UNREAD;
    ret->is_any = false;
}

/* Whether the process is this connection's client: a server is not held up by a client that was
 * stopped, nor is a program that waits for events of all its helpers, at socketpairs, by one of
 * them. */
static bool has_server(struct argus_live *live, uint32_t process, uint32_t number,
                       uint64_t *ret_inode)
{
    struct live_socket own;
    const struct live_socket *peer = peer_of(live, process, number, &own);
    if (!peer)
        return false;
    *ret_inode = own.inode;
    return is_client(live, &own, peer);
}

/* Those at the other end of polled connections that were all stopped by a signal or the freezer:
 * such a server answers nothing, and sends no input. */
static void add_halted(struct argus_live *live, uint32_t thread, const struct live_polled *polled,
                       uint32_t count, struct live_candidates *ret)
{
    uint32_t process = live->threads.data[thread].process;
    for (uint32_t i = 0; i < count; i++) {
        struct argus_live_wait one = {.kind = ARGUS_LIVE_EVENTS, .fd = polled[i].fd};
        struct live_candidates peers = {0};
        uint32_t halted = 0;
        if (!has_server(live, process, polled[i].fd, &one.object))
            continue;
        live_by_socket(live, thread, &one, &peers);
        while (halted < peers.count && live_is_halted(live, peers.items[halted].process))
            halted++;
        for (uint32_t k = 0; halted == peers.count && k < peers.count; k++)
            live_candidate(ret, peers.items[k].process, peers.items[k].thread);
    }
    if (ret->count)
        ret->link = ARGUS_LIVE_LINK_HALTED;
}

void live_by_events(struct argus_live *live, uint32_t thread, const struct argus_live_wait *wait,
                    struct live_candidates *ret)
{
    static const struct {
        live_polled_test *test;
        enum argus_live_link link;
    } tests[] = {{is_unread, ARGUS_LIVE_LINK_UNREAD},
                 {is_not_accepted, ARGUS_LIVE_LINK_QUEUED},
                 {awaits_answer, ARGUS_LIVE_LINK_ANSWERS}};
    struct live_polled polled[LIVE_POLLED];
    uint32_t count = live_set_of(live, thread, polled);
    (void)wait;
    add_readers(live, thread, polled, count, ret);
    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]) && !ret->count; i++) {
        add_servers(live, thread, polled, count, tests[i].test, ret);
        ret->link = tests[i].link;
    }
    if (!ret->count)
        add_halted(live, thread, polled, count, ret);
    if (!ret->count)
        live_only_clients(live, thread, polled, count, ret);
    /* also if an answer is due from another machine: such connections may wait for the next event
     * for days */
    if (!ret->count)
        live_polled_children(live, thread, polled, count, ret);
    if (!ret->count)
        ret->end = ARGUS_LIVE_END_IDLE;
    ret->is_guess = true;
}

/* A poll of one descriptor is a read or write with a timeout: libraries wait so for an answer. */
void live_wait_for_set(struct argus_live *live, uint32_t thread, struct argus_live_wait *wait)
{
    struct live_polled polled[LIVE_POLLED];
    wait->fd_count = live_set_of(live, thread, polled);
    if (wait->fd_count == 0 && !live_set_is_empty(live, thread)) {
        wait->kind = ARGUS_LIVE_EVENTS;
    } else if (wait->fd_count == 0) {
        wait->kind = wait->has_timeout ? ARGUS_LIVE_SLEEP : ARGUS_LIVE_SIGNAL;
    } else if (wait->fd_count == 1) {
        wait->fd = polled[0].fd;
        wait->is_write = polled[0].is_write;
        live_wait_for_fd(live, thread, wait);
    } else {
        wait->kind = ARGUS_LIVE_EVENTS;
    }
}
