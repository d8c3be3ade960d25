/* TCP and UDP.
 *
 * TCP: write_seq of the sender and copied_seq of the receiver number the same bytes. copied_seq is read just after the
 * socket's lock was given back (sock_recv_length), so with several readers what message_pipe.h says holds. A long send waits for
 * room, and another writer's bytes can come between: tcp_sendmsg_locked (Linux 6.16) runs under the lock before each
 * step, with write_seq and what is left to send, so that every piece that is in one is known exactly. Without it
 * write_seq is read at the end, as copied_seq is.
 *
 * UDP: on loopback (and between containers of one machine) the datagram stays in the sender's sk_buff, whose address is the
 * position. net_dev_queue shows it on the way out, on the sending thread. No tracepoint shows it on the way to the receiver, but the
 * receiver's queue is first in, first out: the buffer at its head after a receive is that of the next receive; and when
 * the queue was empty, sk_data_ready tells that it no longer is. So the head of each queue is kept in a table
 * (`udp_heads`), with the addresses in its header, which is gone when the datagram has been received. A receiver on another cpu
 * can be faster than sk_data_ready; but that runs on the sending cpu, which knows what it sent last (`udp_last`).
 */
#ifndef ARGUS_BPF_MESSAGE_INET_H
#define ARGUS_BPF_MESSAGE_INET_H

#include "message_record.h"

#define UDP_HEADS    4096 /* a power of two */
#define UDP_HEADER   8
#define RCV_SHUTDOWN 1
#define ETH_P_IP_BE  0x0008 /* network order */
#define IPV4_SOURCE  12
#define IPV6_SOURCE  8
#define LOOPBACK_NET 127 /* first byte of an IPv4 address on the wire */

static __always_inline uint64_t mixed(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 29;
}

/* One direction of a connection. IPv6 addresses are folded into 8 bytes; an IPv4 address in IPv6 form is the IPv4 one. */
struct flow {
    uint64_t from, to;
    uint16_t from_port, to_port; /* network order */
    uint16_t protocol;
};

static __always_inline uint64_t folded(const void *address)
{
    uint64_t high = kernel_word(address), low = kernel_word(address + 8);
    if (!high && (uint32_t)low == 0xffff0000) /* ::ffff:a.b.c.d, as a little-endian number */
        return low >> 32;
    return mixed(high, low) | 1ull << 63;
}

static __always_inline bool is_loopback(uint64_t address)
{
    return address < 1ull << 32 ? (address & 0xff) == LOOPBACK_NET
                                : address == (mixed(0, 1ull << 56) | 1ull << 63); /* ::1 */
}

/* Every network namespace has a loopback of its own; other addresses can be reached from another one. */
static __always_inline uint64_t flow_channel(const struct flow *flow, uint64_t net)
{
    uint64_t hash = mixed(flow->protocol, flow->from);
    hash = mixed(hash, flow->to);
    hash = mixed(hash, (uint64_t)flow->from_port << 16 | flow->to_port);
    return is_loopback(flow->to) ? mixed(hash, net) : hash;
}

static __always_inline uint64_t sock_net(const struct sock *sock)
{
    return kernel_word(kernel_place(sock, sock, __sk_common.skc_net));
}

static __always_inline uint64_t tcp_channel(const struct sock *sock, bool receive)
{
    uint64_t own, peer;
    if (message_family(sock) == AF_INET) {
        own = kernel_read(sock, sock, __sk_common.skc_rcv_saddr);
        peer = kernel_read(sock, sock, __sk_common.skc_daddr);
    } else {
        own = folded(kernel_place(sock, sock, __sk_common.skc_v6_rcv_saddr));
        peer = folded(kernel_place(sock, sock, __sk_common.skc_v6_daddr));
    }
    uint16_t own_port = __builtin_bswap16(kernel_read(sock, sock, __sk_common.skc_num));
    uint16_t peer_port = kernel_read(sock, sock, __sk_common.skc_dport);
    struct flow flow = {
        .from = receive ? peer : own,
        .to = receive ? own : peer,
        .from_port = receive ? peer_port : own_port,
        .to_port = receive ? own_port : peer_port,
        .protocol = IPPROTO_TCP,
    };
    return flow_channel(&flow, sock_net(sock));
}

/* `bytes` that end at `position`. */
static __always_inline void tcp_emit(struct task_struct *task, const struct sock *sock,
                                     uint64_t bytes, uint32_t position, uint32_t flags)
{
    struct moment now = moment_now(task);
    struct message message = {
        .channel = tcp_channel(sock, flags & ARGUS_MESSAGE_RECEIVE),
        .bytes = bytes,
        .kind = ARGUS_CHANNEL_TCP,
        .flags = flags | ARGUS_MESSAGE_POSITION,
        .position = position,
        .other = socket_inode(sock),
    };
    message_emit(&now, &message);
}

static __always_inline void message_tcp_received(struct task_struct *task, const struct sock *sock,
                                                 uint64_t bytes, uint32_t flags)
{
    uint32_t position = kernel_read(tcp_sock, sock, copied_seq);
    if (position == kernel_read(tcp_sock, sock, rcv_nxt) &&
        kernel_read(sock, sock, sk_shutdown) & RCV_SHUTDOWN)
        position--; /* the end of the stream has a number, too */
    tcp_emit(task, sock, bytes, position, flags);
}

/* In tcp_sendmsg_locked: the next byte gets the number write_seq, and `left` are still to be sent. When more than our own
 * were written since the last step, our last piece has ended. */
static __always_inline void message_tcp_step(struct task_struct *task, const struct sock *sock,
                                             uint64_t left)
{
    struct message_slot *slot = message_slot(task->pid);
    if (!slot)
        return;
    uint32_t sequence = kernel_read(tcp_sock, sock, write_seq);
    if (slot->tid == (uint32_t)task->pid && slot->tcp == (uint64_t)sock) {
        uint32_t end = slot->tcp_next + (uint32_t)(slot->tcp_left - left);
        if (end != sequence) {
            uint32_t piece = end - slot->tcp_begin;
            if (piece)
                tcp_emit(task, sock, piece, end, ARGUS_MESSAGE_CERTAIN);
            slot->bytes += piece;
            slot->tcp_begin = sequence;
        }
    } else {
        *slot = (struct message_slot){
            .tid = (uint32_t)task->pid, .tcp = (uint64_t)sock, .tcp_begin = sequence};
    }
    slot->tcp_next = sequence;
    slot->tcp_left = left;
}

/* In sock_send_length. */
static __always_inline void message_tcp_sent(struct task_struct *task, const struct sock *sock,
                                             int64_t bytes)
{
    struct message_slot *slot = message_slot(task->pid);
    uint64_t rest = bytes > 0 ? bytes : 0;
    uint32_t position = kernel_read(tcp_sock, sock, write_seq), flags = 0;
    if (slot && slot->tid == (uint32_t)task->pid && slot->tcp == (uint64_t)sock) {
        rest = rest > slot->bytes ? rest - slot->bytes : 0;
        position = slot->tcp_begin + (uint32_t)rest;
        flags = ARGUS_MESSAGE_CERTAIN;
        slot->tid = 0;
    }
    if (rest)
        tcp_emit(task, sock, rest, position, flags);
}

/* By the headers in `buffer`. */
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
}

/* The datagram that the next receive of a socket will get, or that is being received just now. */
struct udp_head {
    uint64_t inode;  /* of the socket */
    uint64_t buffer; /* 0: none that we know of */
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

/* Receivers take from reader_queue, into which they move all of sk_receive_queue when it is empty. */
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

/* In sk_data_ready, mostly inside an interrupt: a datagram is in the queue, or was. While a receive is on its way back, the one
 * that it took must stay noted. */
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
        head->buffer = 0; /* before we look: whoever comes in between puts it there */
        uint64_t first = udp_first(sock);
        if (first)
            udp_note_head(head, sock, message.other, first, 0);
    }
    message_emit(&now, &message);
}

#endif
