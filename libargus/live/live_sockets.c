/* The kernel's list of sockets (sock_diag(7)), which every user may read: of unix sockets the other
 * end, of all their queues. It has the sockets of argus's own network namespace.
 *
 * Two cases have no other end with an inode yet, because the server has not accepted the
 * connection: then the other end is the listening socket. For unix sockets, the kernel lists the
 * connections that wait at a listening socket (UNIX_DIAG_ICONS); for TCP, its port tells. */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "live/live_data.h"

enum { ANSWER_BYTES = 32768, TCP_CONNECTED_STATE = 1, TCP_LISTEN_STATE = 10, ALL_STATES = -1 };

typedef void take_message(struct argus_live *live, const struct nlmsghdr *message);

static void add_socket(struct argus_live *live, const struct live_socket *socket)
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

/* Abstract names begin with a NUL, shown as '@'. */
static uint32_t unix_name(struct argus_live *live, const char *name, size_t length)
{
    char text[128];
    snprintf(text, sizeof(text), "%s%.*s", name[0] ? "" : "@", (int)(length - !name[0]),
             name + !name[0]);
    return live_text(live, text);
}

static void take_attribute(struct argus_live *live, const struct rtattr *attribute,
                           struct live_socket *socket)
{
    struct unix_diag_rqlen queues;
    uint32_t peer;
    size_t length = RTA_PAYLOAD(attribute);
    switch (attribute->rta_type) {
    case UNIX_DIAG_NAME:
        if (length)
            socket->path = unix_name(live, RTA_DATA(attribute), length);
        break;
    case UNIX_DIAG_PEER:
        if (length >= sizeof(peer)) {
            memcpy(&peer, RTA_DATA(attribute), sizeof(peer));
            socket->peer = peer;
        }
        break;
    case UNIX_DIAG_RQLEN:
        if (length >= sizeof(queues)) {
            memcpy(&queues, RTA_DATA(attribute), sizeof(queues));
            socket->unread = queues.udiag_rqueue;
        }
        break;
    default:
        break;
    }
}

/* A waiting connection may be listed before or after the socket itself, so an own socket stands for
 * each until all are known. */
static void take_waiting(struct argus_live *live, const struct rtattr *attribute, uint64_t listener)
{
    const char *bytes = RTA_DATA(attribute);
    for (size_t at = 0; at + sizeof(uint32_t) <= RTA_PAYLOAD(attribute); at += sizeof(uint32_t)) {
        uint32_t client;
        memcpy(&client, bytes + at, sizeof(client));
        const struct live_socket waiting = {.peer = client, .unread = listener};
        add_socket(live, &waiting);
    }
}

static void take_unix(struct argus_live *live, const struct nlmsghdr *message)
{
    const struct unix_diag_msg *answer = NLMSG_DATA(message);
    if (message->nlmsg_len < NLMSG_LENGTH(sizeof(*answer)))
        return;
    struct live_socket socket = {.family = AF_UNIX,
                                 .inode = answer->udiag_ino,
                                 .is_listening = answer->udiag_state == TCP_LISTEN_STATE};
    size_t length = message->nlmsg_len - NLMSG_LENGTH(sizeof(*answer));
    for (const struct rtattr *attribute = (const struct rtattr *)(answer + 1);
         RTA_OK(attribute, length); attribute = RTA_NEXT(attribute, length)) {
        take_attribute(live, attribute, &socket);
        if (attribute->rta_type == UNIX_DIAG_ICONS)
            take_waiting(live, attribute, socket.inode);
    }
    add_socket(live, &socket);
}

/* IPv4 addresses as IPv6 has them, so that both ends compare. */
static void copy_address(uint32_t ret[4], const uint32_t address[4], uint8_t family)
{
    if (family == AF_INET6) {
        memcpy(ret, address, 4 * sizeof(*ret));
        return;
    }
    ret[0] = ret[1] = 0;
    ret[2] = htonl(0xffff);
    ret[3] = address[0];
}

static bool read_inet(const struct nlmsghdr *message, struct live_socket *ret)
{
    const struct inet_diag_msg *answer = NLMSG_DATA(message);
    if (message->nlmsg_len < NLMSG_LENGTH(sizeof(*answer)))
        return false;
    *ret = (struct live_socket){.family = AF_INET,
                                .inode = answer->idiag_inode,
                                .unread = answer->idiag_rqueue,
                                .is_listening = answer->idiag_state == TCP_LISTEN_STATE,
                                .is_connected = answer->idiag_state == TCP_CONNECTED_STATE,
                                .local_port = ntohs(answer->id.idiag_sport),
                                .remote_port = ntohs(answer->id.idiag_dport)};
    copy_address(ret->local, answer->id.idiag_src, answer->idiag_family);
    copy_address(ret->remote, answer->id.idiag_dst, answer->idiag_family);
    return true;
}

/* The times are those of the kernel's ticks; if they are equal, nothing is known unless no data
 * ever came. */
static bool has_sent_last(const struct rtattr *attribute, uint64_t *ret_ns)
{
    struct tcp_info info = {0};
    size_t length = RTA_PAYLOAD(attribute);
    memcpy(&info, RTA_DATA(attribute), length < sizeof(info) ? length : sizeof(info));
    uint64_t ago_ns = info.tcpi_last_data_sent * 1000000ull, now_ns = live_now_ns();
    *ret_ns = info.tcpi_data_segs_out && ago_ns < now_ns ? now_ns - ago_ns : 0;
    return info.tcpi_last_data_sent < info.tcpi_last_data_recv ||
           (info.tcpi_data_segs_out && !info.tcpi_data_segs_in);
}

static void take_tcp(struct argus_live *live, const struct nlmsghdr *message)
{
    const struct inet_diag_msg *answer = NLMSG_DATA(message);
    struct live_socket socket;
    if (!read_inet(message, &socket))
        return;
    size_t length = message->nlmsg_len - NLMSG_LENGTH(sizeof(*answer));
    for (const struct rtattr *attribute = (const struct rtattr *)(answer + 1);
         RTA_OK(attribute, length); attribute = RTA_NEXT(attribute, length))
        if (attribute->rta_type == INET_DIAG_INFO)
            socket.sent_last = has_sent_last(attribute, &socket.sent_ns);
    add_socket(live, &socket);
}

static void take_udp(struct argus_live *live, const struct nlmsghdr *message)
{
    struct live_socket socket;
    if (!read_inet(message, &socket))
        return;
    socket.is_datagram = true;
    add_socket(live, &socket);
}

/* Reads all answers; false: that was the last one, or none came. */
static bool take_answers(struct argus_live *live, int fd, take_message *take)
{
    static const size_t align = NLMSG_ALIGNTO;
    char *buffer = aligned_alloc(align * 4, ANSWER_BYTES);
    ssize_t got = buffer ? recv(fd, buffer, ANSWER_BYTES, 0) : -1;
    bool more = got > 0;
    size_t length = got > 0 ? (size_t)got : 0;
    for (const struct nlmsghdr *message = (const struct nlmsghdr *)buffer;
         more && NLMSG_OK(message, length); message = NLMSG_NEXT(message, length)) {
        more = message->nlmsg_type == SOCK_DIAG_BY_FAMILY;
        if (more)
            take(live, message);
    }
    free(buffer);
    return more;
}

static void ask(struct argus_live *live, const void *request, size_t bytes, take_message *take)
{
    struct {
        struct nlmsghdr header;
        char request[64];
    } message = {.header = {.nlmsg_len = (uint32_t)NLMSG_LENGTH(bytes),
                            .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                            .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP}};
    int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (fd < 0)
        return;
    memcpy(message.request, request, bytes);
    if (send(fd, &message, message.header.nlmsg_len, 0) > 0)
        while (take_answers(live, fd, take))
            continue;
    close(fd);
}

static void ask_unix(struct argus_live *live)
{
    const struct unix_diag_req request = {.sdiag_family = AF_UNIX,
                                          .udiag_states = (uint32_t)ALL_STATES,
                                          .udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER |
                                                        UDIAG_SHOW_RQLEN | UDIAG_SHOW_ICONS};
    ask(live, &request, sizeof(request), take_unix);
}

static void ask_inet(struct argus_live *live, uint8_t family)
{
    struct inet_diag_req_v2 request = {.sdiag_family = family,
                                       .sdiag_protocol = IPPROTO_TCP,
                                       .idiag_ext = 1 << (INET_DIAG_INFO - 1),
                                       .idiag_states = (uint32_t)ALL_STATES};
    ask(live, &request, sizeof(request), take_tcp);
    request.sdiag_protocol = IPPROTO_UDP;
    request.idiag_ext = 0;
    ask(live, &request, sizeof(request), take_udp);
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
    copy_address(own, bytes, (uint8_t)of->sa_family);
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
    copy_address(any_of_4, any, AF_INET);
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
    socket->is_remote = !is_here;
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
        ask_unix(live);
        ask_inet(live, AF_INET);
        ask_inet(live, AF_INET6);
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
