/* TCP: write_seq of the sender and copied_seq of the receiver number the same bytes.
 *
 * copied_seq is read just after the socket's lock was given back (sock_recv_length), so with
 * several readers it may be that of another one. A long send waits for room, and another writer's
 * bytes can be sent in between: tcp_sendmsg_locked (Linux 6.16) runs under the lock before each
 * step, with write_seq and what is left to send, so that every piece that is in one is known
 * exactly. Without it write_seq is read at the end, as copied_seq is.
 */
#ifndef ARGUS_BPF_MESSAGE_TCP_H
#define ARGUS_BPF_MESSAGE_TCP_H

#include "message_inet.h"

#define RCV_SHUTDOWN 1

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
    if (!(flags & ARGUS_MESSAGE_RECEIVE))
        emit_remote(&now, sock, true);
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

/* In tcp_sendmsg_locked: the next byte gets the number write_seq, and `left` are still to be sent.
 * When more than our own were written since the last step, our last piece has ended. */
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
    uint32_t position = kernel_read(tcp_sock, sock, write_seq), flags;
    if (slot && slot->tid == (uint32_t)task->pid && slot->tcp == (uint64_t)sock) {
        rest = rest > slot->bytes ? rest - slot->bytes : 0;
        position = slot->tcp_begin + (uint32_t)rest;
        flags = ARGUS_MESSAGE_CERTAIN;
        slot->tid = 0;
    } else {
        const void *socket = (const void *)kernel_word(kernel_place(sock, sock, sk_socket));
        flags = message_doubt(kernel_word(kernel_place(socket, socket, file)));
    }
    if (rest)
        tcp_emit(task, sock, rest, position, flags);
}

#endif
