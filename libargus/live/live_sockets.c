/* Sockets and their other ends.
 *
 * Two cases have no other end with an inode yet, because the server has not accepted the
 * connection: then the other end is the listening socket. For unix sockets, the system tells which
 * connections wait at it; for TCP, its port tells. */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "live/live_data.h"

void live_add_socket(struct argus_live *live, const struct live_socket *socket)
{
    uint32_t index = (uint32_t)live->sockets.length;
    if (!vec_push(&live->sockets, *socket) ||
        (socket->inode && !idmap_put(&live->by_inode, socket->inode, index)))
        live->no_memory = true;
}

static struct live_socket *find_socket(struct argus_live *live, uint64_t inode)
{
    uint32_t index = inode ? idmap_get(&live->by_inode, inode) : IDMAP_NONE;
    return index == IDMAP_NONE ? NULL : &live->sockets.data[index];
}

/* IPv4 addresses as IPv6 has them, so that both ends compare. */
void live_copy_address(uint32_t ret[4], const uint32_t address[4], uint8_t family)
{
    if (family == AF_INET6) {
        memcpy(ret, address, 4 * sizeof(*ret));
        return;
    }
    ret[0] = ret[1] = 0;
    ret[2] = htonl(0xffff);
    ret[3] = address[0];
}

static void join_waiting(struct argus_live *live)
{
    for (size_t i = 0; i < live->sockets.length; i++) {
        const struct live_socket waiting = live->sockets.data[i];
        struct live_socket *client = waiting.inode ? NULL : find_socket(live, waiting.peer);
        if (client && !waiting.family && !client->peer)
            client->peer = waiting.unread;
    }
}

static bool is_same(const uint32_t a[4], const uint32_t b[4])
{
    return memcmp(a, b, 4 * sizeof(*a)) == 0;
}

static bool is_loopback(const uint32_t address[4])
{
    static const uint32_t loopback_of_6[4] = {0, 0, 0, 1};
    uint32_t host_order[4];
    for (int i = 0; i < 4; i++)
        host_order[i] = ntohl(address[i]);
    return is_same(host_order, loopback_of_6) ||
           (!host_order[0] && !host_order[1] && host_order[2] == 0xffff &&
            host_order[3] >> 24 == IN_LOOPBACKNET);
}

static bool is_of_interface(const struct sockaddr *of, const uint32_t address[4])
{
    uint32_t bytes[4] = {0}, own[4];
    if (!of || (of->sa_family != AF_INET && of->sa_family != AF_INET6))
        return false;
    if (of->sa_family == AF_INET)
        memcpy(bytes, &((const struct sockaddr_in *)of)->sin_addr, sizeof(*bytes));
    else
        memcpy(bytes, &((const struct sockaddr_in6 *)of)->sin6_addr, sizeof(bytes));
    live_copy_address(own, bytes, (uint8_t)of->sa_family);
    return is_same(own, address);
}

/* Whether what the socket sends to its remote address stays on this machine. */
static bool sends_to_this_machine(const struct live_socket *socket)
{
    struct ifaddrs *list = NULL;
    bool is_own = is_loopback(socket->remote) || is_same(socket->remote, socket->local);
    if (is_own || getifaddrs(&list) != 0)
        return is_own;
    for (const struct ifaddrs *at = list; at && !is_own; at = at->ifa_next)
        is_own = is_of_interface(at->ifa_addr, socket->remote);
    freeifaddrs(list);
    return is_own;
}

/* Whether what is sent to the socket's remote address arrives there. */
static bool has_address(const struct live_socket *listener, const struct live_socket *socket)
{
    static const uint32_t any[4];
    uint32_t any_of_4[4];
    live_copy_address(any_of_4, any, AF_INET);
    if (listener->local_port != socket->remote_port)
        return false;
    return is_same(listener->local, socket->remote) ||
           ((is_same(listener->local, any) || is_same(listener->local, any_of_4)) &&
            sends_to_this_machine(socket));
}

/* Also finds a connection that nobody has accepted: it has no inode. */
static void join_tcp(struct argus_live *live, struct live_socket *socket)
{
    uint64_t listener = 0;
    bool is_here = false;
    for (size_t i = 0; i < live->sockets.length; i++) {
        const struct live_socket *other = &live->sockets.data[i];
        if (other->family != AF_INET || other->is_datagram)
            continue;
        if (other->is_listening && has_address(other, socket))
            listener = other->inode;
        if (other->local_port != socket->remote_port || other->remote_port != socket->local_port ||
            !is_same(other->local, socket->remote) || !is_same(other->remote, socket->local))
            continue;
        is_here = true;
        socket->peer = other->inode;
    }
    if (is_here && !socket->peer)
        socket->peer = listener;
    /* an end without an inode may have been taken for that of a connection to another machine */
    socket->is_remote = !socket->peer && !sends_to_this_machine(socket);
}

/* The socket that is connected back to this one, or else one that takes datagrams of anybody. */
static void join_udp(struct argus_live *live, struct live_socket *socket)
{
    socket->is_remote = socket->is_connected && !sends_to_this_machine(socket);
    for (size_t i = 0; socket->is_connected && i < live->sockets.length; i++) {
        const struct live_socket *other = &live->sockets.data[i];
        if (!other->is_datagram || other == socket || !has_address(other, socket))
            continue;
        bool is_back = other->is_connected && other->remote_port == socket->local_port &&
                       is_same(other->remote, socket->local);
        if (is_back || (!other->is_connected && !socket->peer))
            socket->peer = other->inode;
    }
}

static void find_peer(struct argus_live *live, struct live_socket *socket)
{
    if (socket->family != AF_INET || socket->is_listening || socket->peer)
        return;
    if (socket->is_datagram)
        join_udp(live, socket);
    else
        join_tcp(live, socket);
}

const struct live_socket *live_socket(struct argus_live *live, uint64_t inode)
{
    if (!live->has_sockets) {
        live->has_sockets = true;
        live_read_sockets(live);
        join_waiting(live);
    }
    struct live_socket *socket = find_socket(live, inode);
    if (socket)
        find_peer(live, socket);
    return socket;
}

bool live_is_accepted(struct argus_live *live, const struct live_socket *socket)
{
    if (socket->is_listening || socket->is_datagram)
        return false;
    if (socket->family == AF_UNIX)
        return socket->path && socket->peer;
    return live_port_listens(live, socket->local_port);
}

uint32_t live_remote_address(struct argus_live *live, const struct live_socket *socket)
{
    static const uint32_t any[4];
    char address[INET6_ADDRSTRLEN] = "", text[INET6_ADDRSTRLEN + 16];
    bool is_4 = !socket->remote[0] && !socket->remote[1] && socket->remote[2] == htonl(0xffff);
    if (socket->family != AF_INET || !socket->remote_port || is_same(socket->remote, any))
        return 0;
    inet_ntop(is_4 ? AF_INET : AF_INET6, is_4 ? &socket->remote[3] : socket->remote, address,
              sizeof(address));
    snprintf(text, sizeof(text), is_4 ? "%s:%u" : "[%s]:%u", address, socket->remote_port);
    return live_text(live, text);
}

bool live_port_listens(struct argus_live *live, uint16_t port)
{
    for (size_t i = 0; i < live->sockets.length; i++)
        if (live->sockets.data[i].is_listening && live->sockets.data[i].family == AF_INET &&
            live->sockets.data[i].local_port == port)
            return true;
    return false;
}
