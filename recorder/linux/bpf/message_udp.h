/* UDP: on loopback (and between containers of one machine) the datagram stays in the sender's
 * sk_buff, whose address is the position.
 *
 * net_dev_queue shows it on the way out, on the sending thread. No tracepoint shows it on the way
 * to the receiver, but the receiver's queue is first in, first out: the buffer at its head after a
 * receive is that of the next receive; and when the queue was empty, sk_data_ready tells that it no
 * longer is. So the head of each queue is kept in a table
 * (`udp_heads`), with the addresses in its header, which is gone when the datagram has been
 * received. A receiver on another cpu can be faster than sk_data_ready; but that runs on the
 * sending cpu, which knows what it sent last (`udp_last`).
 */
#ifndef ARGUS_BPF_MESSAGE_UDP_H
#define ARGUS_BPF_MESSAGE_UDP_H

#include "message_inet.h"

#define UDP_HEADS   4096 /* a power of two */
#define UDP_HEADER  8
#define ETH_P_IP_BE 0x0008 /* network order */
#define IPV4_SOURCE 12
#define IPV6_SOURCE 8

/* The channel, from the headers in `buffer`. */
static __always_inline uint64_t udp_channel(const void *buffer, uint64_t net)
{
    uint64_t head = kernel_word(kernel_place(sk_buff, buffer, head));
    const void *network = (void *)(head + kernel_read(sk_buff, buffer, network_header));
    const void *transport = (void *)(head + kernel_read(sk_buff, buffer, transport_header));
    uint32_t ports = (uint32_t)kernel_word(transport);
    struct flow flow = {
        .from_port = (uint16_t)ports, .to_port = ports >> 16, .protocol = IPPROTO_UDP};
    if (kernel_read(sk_buff, buffer, protocol) == ETH_P_IP_BE) {
        uint64_t addresses = kernel_word(network + IPV4_SOURCE);
        flow.from = (uint32_t)addresses;
        flow.to = addresses >> 32;
    } else {
        flow.from = folded(network + IPV6_SOURCE);
        flow.to = folded(network + IPV6_SOURCE + 16);
    }
    return flow_channel(&flow, net);
}

/* The address is that of the packet: the socket is not connected. */
static __always_inline void emit_remote_of_packet(const struct moment *now, const void *buffer,
                                                  const struct sock *sock)
{
    uint64_t head = kernel_word(kernel_place(sk_buff, buffer, head));
    const void *network = (void *)(head + kernel_read(sk_buff, buffer, network_header));
    const void *transport = (void *)(head + kernel_read(sk_buff, buffer, transport_header));
    bool old = kernel_read(sk_buff, buffer, protocol) == ETH_P_IP_BE;
    const void *address = network + (old ? IPV4_SOURCE + 4 : IPV6_SOURCE + 16);
    uint64_t first = kernel_word(address);
    struct remote remote = {
        .inode = socket_inode(sock),
        .high = old ? (uint32_t)first : first,
        .low = old ? 0 : kernel_word(address + 8),
        .port = (uint16_t)(kernel_word(transport) >> 16),
        .own_port = kernel_read(sock, sock, __sk_common.skc_num),
        .protocol = IPPROTO_UDP,
        .version = old ? 4 : 6,
    };
    emit_remote_once(now, &remote, true);
}

/* The datagram that a cpu sent last; 0: it has been seen in its receiver's queue. */
struct udp_last {
    uint64_t buffer;
    uint64_t channel;
    uint64_t bytes;
    uint64_t to_port; /* network order */
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, struct udp_last);
} udp_last SEC(".maps");

static __always_inline struct udp_last *udp_last_here(void)
{
    uint32_t key = 0;
    return bpf_map_lookup_elem(&udp_last, &key);
}

/* In net_dev_queue: `sock` sends a datagram. */
static __always_inline void message_udp_sent(struct task_struct *task, const void *buffer,
                                             const struct sock *sock)
{
    struct moment now = moment_now(task);
    uint32_t length = kernel_read(sk_buff, buffer, len);
    uint64_t head = kernel_word(kernel_place(sk_buff, buffer, head));
    const void *transport = (void *)(head + kernel_read(sk_buff, buffer, transport_header));
    uint32_t datagram = __builtin_bswap16(kernel_word(transport + 4) & 0xffff);
    struct message message = {
        .channel = udp_channel(buffer, sock_net(sock)),
        .bytes = (datagram && datagram <= length ? datagram : length) - UDP_HEADER,
        .kind = ARGUS_CHANNEL_UDP,
        .flags = ARGUS_MESSAGE_POSITION,
        .position = (uint64_t)buffer,
        .other = socket_inode(sock),
    };
    struct udp_last *last = udp_last_here();
    if (last)
        *last = (struct udp_last){message.position, message.channel, message.bytes,
                                  kernel_word(transport + 2) & 0xffff};
    message_emit(&now, &message);
    if (!emit_remote(&now, sock, true))
        emit_remote_of_packet(&now, buffer, sock);
}

/* The datagram that the next receive of a socket will get, or that is being received just now. */
struct udp_head {
    uint64_t inode;  /* of the socket */
    uint64_t buffer; /* 0: none known */
    uint64_t channel;
    uint32_t bytes;
    uint32_t flags; /* ARGUS_MESSAGE_DOUBTFUL, or 0 */
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, UDP_HEADS);
    __type(key, uint32_t);
    __type(value, struct udp_head);
} udp_heads SEC(".maps");

static __always_inline struct udp_head *udp_head_of(const struct sock *sock)
{
    uint32_t key = ((uint64_t)sock * 0x9e3779b97f4a7c15ull >> 40) & (UDP_HEADS - 1);
    return bpf_map_lookup_elem(&udp_heads, &key);
}

/* The first buffer of a queue; 0: it is empty. */
static __always_inline uint64_t queue_first(const void *queue)
{
    uint64_t first = kernel_word(queue);
    return first == (uint64_t)queue ? 0 : first;
}

/* Receivers take from reader_queue, into which they move all of sk_receive_queue when it is empty.
 */
static __always_inline uint64_t udp_first(const struct sock *sock)
{
    uint64_t first = queue_first(kernel_place(udp_sock, sock, reader_queue));
    return first ? first : queue_first(kernel_place(sock, sock, sk_receive_queue));
}

static __always_inline void udp_note_head(struct udp_head *head, const struct sock *sock,
                                          uint64_t inode, uint64_t first, uint32_t flags)
{
    const void *buffer = (const void *)first;
    head->inode = inode;
    head->bytes = kernel_read(sk_buff, buffer, len);
    head->channel = udp_channel(buffer, sock_net(sock));
    head->flags = flags;
    head->buffer = first;
}

/* In sk_data_ready, mostly inside an interrupt: a datagram is in the queue, or was. While a receive
 * is on its way back, the one that it took must stay noted. */
static __always_inline void message_udp_queued(const struct sock *sock)
{
    uint64_t inode = socket_inode(sock);
    struct udp_head *head = udp_head_of(sock);
    struct udp_last *last = udp_last_here();
    if (!head || !last || (head->buffer && head->inode == inode))
        return;
    uint16_t port = __builtin_bswap16(kernel_read(sock, sock, __sk_common.skc_num));
    uint64_t first = udp_first(sock), sent = last->to_port == port ? last->buffer : 0;
    if (sent)
        last->buffer = 0;
    if (first) {
        udp_note_head(head, sock, inode, first, sent && sent != first ? ARGUS_MESSAGE_DOUBTFUL : 0);
    } else if (sent) { /* it is being received already, unless the cpu has sent another since */
        head->inode = inode;
        head->bytes = (uint32_t)last->bytes;
        head->channel = last->channel;
        head->flags = ARGUS_MESSAGE_DOUBTFUL;
        head->buffer = sent;
    }
}

/* In sock_recv_length. */
static __always_inline void message_udp_received(struct task_struct *task, const struct sock *sock,
                                                 uint64_t bytes, uint32_t flags)
{
    struct moment now = moment_now(task);
    struct udp_head *head = udp_head_of(sock);
    if (!head)
        return;
    struct message message = {
        .bytes = bytes,
        .kind = ARGUS_CHANNEL_UDP,
        .flags = flags,
        .other = socket_inode(sock),
    };
    if (head->inode == message.other && head->buffer && bytes <= head->bytes) {
        message.flags |= ARGUS_MESSAGE_POSITION | head->flags;
        message.position = head->buffer;
        message.channel = head->channel;
        if (bytes < head->bytes)
            message.flags |= ARGUS_MESSAGE_TRUNCATED;
    }
    if (!(flags & ARGUS_MESSAGE_PEEK)) {
        head->buffer = 0; /* before the check: a datagram that arrives in between is stored there */
        uint64_t first = udp_first(sock);
        if (first)
            udp_note_head(head, sock, message.other, first, 0);
    }
    message_emit(&now, &message);
}

#endif
