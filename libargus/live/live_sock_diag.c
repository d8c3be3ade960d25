/* The kernel's list of sockets (sock_diag(7)), which every user may read: of unix sockets the other
 * end, of all their queues. It has the sockets of argus's own network namespace. */
#include <arpa/inet.h>
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
        live_add_socket(live, &waiting);
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
    live_add_socket(live, &socket);
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
    live_copy_address(ret->local, answer->id.idiag_src, answer->idiag_family);
    live_copy_address(ret->remote, answer->id.idiag_dst, answer->idiag_family);
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
    live_add_socket(live, &socket);
}

static void take_udp(struct argus_live *live, const struct nlmsghdr *message)
{
    struct live_socket socket;
    if (!read_inet(message, &socket))
        return;
    socket.is_datagram = true;
    live_add_socket(live, &socket);
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

void live_read_sockets(struct argus_live *live)
{
    ask_unix(live);
    ask_inet(live, AF_INET);
    ask_inet(live, AF_INET6);
}
