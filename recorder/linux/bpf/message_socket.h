/* The tracepoints of sockets, which run for all network traffic: each looks at family and protocol
 * first. */
#ifndef ARGUS_BPF_MESSAGE_SOCKET_H
#define ARGUS_BPF_MESSAGE_SOCKET_H

#include "message_tcp.h"
#include "message_udp.h"
#include "message_unix.h"
#include "stack.h"

static __always_inline bool is_inet(uint32_t family)
{
    return family == AF_INET || family == AF_INET6;
}

/* Whether the current thread's messages are left out: the recorder's own, and those of the kernel
 * to itself. */
static __always_inline bool message_is_ignored(const struct task_struct *task)
{
    return is_own(task) || task->flags & PF_KTHREAD;
}

SEC("raw_tp/sk_data_ready")
int on_data_ready(struct bpf_raw_tracepoint_args *ctx)
{
    const struct sock *sock = (void *)ctx->args[0];
    uint32_t family = message_family(sock);
    struct task_struct *task = bpf_get_current_task_btf();
    if (family == AF_UNIX && !message_is_ignored(task))
        message_unix_sent(task, sock);
    else if (is_inet(family) && kernel_read(sock, sock, sk_protocol) == IPPROTO_UDP)
        message_udp_queued(sock);
    return 0;
}

SEC("raw_tp/skb_copy_datagram_iovec")
int on_copy_datagram(struct bpf_raw_tracepoint_args *ctx)
{
    const void *buffer = (void *)ctx->args[0];
    const struct sock *sender = (void *)kernel_word(kernel_place(sk_buff, buffer, sk));
    struct task_struct *task = bpf_get_current_task_btf();
    if (sender && message_family(sender) == AF_UNIX && !message_is_ignored(task))
        message_unix_received(task, (uint64_t)buffer, sender, (uint32_t)ctx->args[1]);
    return 0;
}

SEC("raw_tp/sock_send_length")
int on_send_length(struct bpf_raw_tracepoint_args *ctx)
{
    const struct sock *sock = (void *)ctx->args[0];
    int32_t bytes = (int32_t)ctx->args[1];
    struct task_struct *task = bpf_get_current_task_btf();
    if (message_is_ignored(task))
        return 0;
    uint32_t family = message_family(sock);
    if (family == AF_UNIX)
        message_unix_rest(task, sock, bytes);
    else if (is_inet(family) && kernel_read(sock, sock, sk_protocol) == IPPROTO_TCP)
        message_tcp_sent(task, sock, bytes);
    return 0;
}

SEC("raw_tp/tcp_sendmsg_locked")
int on_tcp_step(struct bpf_raw_tracepoint_args *ctx)
{
    const struct sock *sock = (void *)ctx->args[0];
    const void *message = (void *)ctx->args[1];
    struct task_struct *task = bpf_get_current_task_btf();
    if (!message_is_ignored(task))
        message_tcp_step(task, sock, kernel_read(msghdr, message, msg_iter.count));
    return 0;
}

SEC("raw_tp/sock_recv_length")
int on_receive_length(struct bpf_raw_tracepoint_args *ctx)
{
    const struct sock *sock = (void *)ctx->args[0];
    int32_t bytes = (int32_t)ctx->args[1];
    uint32_t flags = ARGUS_MESSAGE_RECEIVE | (ctx->args[2] & MSG_PEEK ? ARGUS_MESSAGE_PEEK : 0);
    struct task_struct *task = bpf_get_current_task_btf();
    uint32_t family = message_family(sock);
    if (family == AF_UNIX)
        message_unix_call_ends(task->pid);
    if (bytes < 0 || message_is_ignored(task) || !is_inet(family))
        return 0;
    uint32_t protocol = kernel_read(sock, sock, sk_protocol);
    if (protocol == IPPROTO_TCP && bytes)
        message_tcp_received(task, sock, bytes, flags);
    else if (protocol == IPPROTO_UDP)
        message_udp_received(task, sock, bytes, flags);
    return 0;
}

SEC("raw_tp/net_dev_queue")
int on_net_queue(struct bpf_raw_tracepoint_args *ctx)
{
    const void *buffer = (void *)ctx->args[0];
    const struct sock *sender = (void *)kernel_word(kernel_place(sk_buff, buffer, sk));
    if (!sender || !is_inet(message_family(sender)) ||
        kernel_read(sock, sender, sk_protocol) != IPPROTO_UDP)
        return 0;
    struct task_struct *task = bpf_get_current_task_btf();
    if (!message_is_ignored(task))
        message_udp_sent(task, buffer, sender);
    return 0;
}

/* A datagram that did not fit into the receiver's queue. */
SEC("raw_tp/udp_fail_queue_rcv_skb")
int on_udp_dropped(struct bpf_raw_tracepoint_args *ctx)
{
    struct moment now = moment_now(bpf_get_current_task_btf());
    const struct sock *sock = (void *)ctx->args[1];
    const void *buffer = settings.drop_has_buffer ? (void *)ctx->args[2] : NULL;
    struct message message = {
        .channel = buffer ? udp_channel(buffer, sock_net(sock)) : 0,
        .bytes = buffer ? kernel_read(sk_buff, buffer, len) : 0,
        .kind = ARGUS_CHANNEL_UDP,
        .flags =
            ARGUS_MESSAGE_RECEIVE | ARGUS_MESSAGE_DROPPED | (buffer ? ARGUS_MESSAGE_POSITION : 0),
        .position = (uint64_t)buffer,
        .other = socket_inode(sock),
    };
    message_emit(&now, &message);
    return 0;
}

#endif
