/* Sockets of kernels before 6.3, which have no tracepoints inside the calls of sockets:
 * sk_data_ready, sock_send_length and sock_recv_length came with it.
 *
 * Unix sockets. The information of sk_data_ready is collected at two other moments: when the sender
 * wakes a thread in its call, just after its buffer has entered the queue; and at the end of the
 * call if it woke no thread, so that the buffer is usually still in the queue. The buffer must be
 * one that this socket has sent and that no other send has claimed. Of a call that sends many
 * buffers (a long stream, sendmmsg()) only the last ones are found; those already received have no
 * position.
 *
 * UDP. The receiver's buffer is seen when the kernel gives it back in the receiving thread
 * (consume_skb), with its headers.
 *
 * TCP is numbered by the kernel, and read at the end of the call.
 */
#ifndef ARGUS_BPF_MESSAGE_OLD_H
#define ARGUS_BPF_MESSAGE_OLD_H

#include "message_tcp.h"
#include "message_udp.h"
#include "message_unix.h"

#define OLD_WALK      8 /* buffers of a queue that are looked at */
#define MSG_DONTWAIT  0x40
#define MSG_NOSIGNAL  0x4000
#define OLD_ANY       (1ull << 30)
#define BATCH_MOST    16 /* messages of sendmmsg() and recvmmsg() that are looked at */
#define BATCH_ENTRY   64 /* struct mmsghdr: a struct msghdr, and the number of bytes behind it */
#define BATCH_BYTES   56
#define BATCH_ENTRY32 32 /* the same of a 32-bit program */
#define BATCH_BYTES32 28
#define PROTOCOL_IPV4 9 /* where the header has the protocol above */
#define PROTOCOL_IPV6 6
#define ETH_P_IPV6_BE 0xdd86

static __always_inline bool is_unix_send(uint32_t operation)
{
    return operation == MESSAGE_SEND || operation == MESSAGE_SENDMMSG ||
           operation == MESSAGE_WRITE || operation == MESSAGE_WRITEV;
}

/* The bytes of the first `count` messages of sendmmsg() or recvmmsg(), from what the kernel has
 * written behind each. */
static __always_inline uint64_t batch_bytes(const struct call *call, uint64_t count)
{
    uint64_t sum = 0, entry = call->is_compat ? BATCH_ENTRY32 : BATCH_ENTRY;
    const void *place =
        (const void *)call->arguments[1] + (call->is_compat ? BATCH_BYTES32 : BATCH_BYTES);
#pragma clang loop unroll(disable)
    for (uint64_t i = 0; i < BATCH_MOST && i < count; i++) {
        uint32_t bytes = 0;
        if (bpf_probe_read_user(&bytes, sizeof(bytes), place + i * entry) < 0)
            break;
        sum += bytes;
    }
    return sum;
}

/* Whether a buffer was already found to be another send's, or is being received for the last time.
 */
static __always_inline bool old_is_claimed(uint64_t buffer)
{
    uint64_t word = claim_word(buffer, claim_name(buffer));
    return word && (!(word & CLAIM_MARKS) || word & CLAIM_CONSUMED);
}

/* Where old_unix_collect() is. */
struct old_walk {
    uint64_t at;  /* a buffer of the queue */
    uint64_t sum; /* bytes of those that were found */
};

/* Looks at one buffer; false: the walk has ended. */
static __always_inline bool old_unix_step(struct old_walk *walk, struct message_slot *slot,
                                          uint64_t sender, uint64_t rest)
{
    const void *buffer = (const void *)walk->at;
    uint64_t count = slot->found_count, bytes = kernel_read(sk_buff, buffer, len);
    if (kernel_word(kernel_place(sk_buff, buffer, sk)) == sender && !old_is_claimed(walk->at)) {
        if (count >= MESSAGE_FOUND || walk->sum + bytes > rest)
            return false;
        slot->found[bounded(count, MESSAGE_FOUND)] = walk->at;
        slot->found_count = count + 1;
        walk->sum += bytes;
    }
    walk->at = kernel_word(kernel_place(sk_buff, buffer, prev));
    return walk->sum < rest;
}

/* Finds the buffers that `sender` put last into the queue of its peer and that no send has claimed:
 * at most as many bytes as `rest`, the newest first, in the slot of the current thread. Returns how
 * many. What is called here is not inlined, so that the verifier looks at it once. */
__attribute__((noinline)) int old_unix_collect(uint64_t sender, uint64_t rest)
{
    struct message_slot *slot = message_slot((uint32_t)bpf_get_current_task_btf()->pid);
    const struct sock *receiver = unix_peer((const struct sock *)sender);
    if (!slot || !receiver)
        return 0;
    uint64_t head = (uint64_t)kernel_place(sock, receiver, sk_receive_queue);
    struct old_walk walk = {kernel_word(kernel_place(sock, receiver, sk_receive_queue.prev)), 0};
    bool more = rest != 0;
    slot->found_count = 0;
#pragma unroll /* 5.15 does not take the loop that clang makes of it */
    for (uint64_t i = 0; i < OLD_WALK; i++)
        if (more)
            more = walk.at && walk.at != head && old_unix_step(&walk, slot, sender, rest);
    slot->found_bytes = walk.sum;
    return (int)slot->found_count;
}

/* Records that the current thread has sent `position`, a buffer that old_unix_collect() found.
 * Returns its bytes; 0: it has been received meanwhile. */
__attribute__((noinline)) int old_unix_emit(uint64_t sender, uint64_t position, uint64_t flags)
{
    struct moment now = moment_now(bpf_get_current_task_btf()); /* before the look at the queue */
    const struct sock *receiver = unix_peer((const struct sock *)sender);
    struct message message = {
        .flags = ARGUS_MESSAGE_POSITION | (uint32_t)flags,
        .position = position,
        .bytes = kernel_read(sk_buff, (const void *)position, len),
        .other = socket_inode((const struct sock *)sender),
    };
    if (!receiver || !unix_is_queued(position))
        return 0;
    message.kind = unix_kind(receiver);
    message.channel = socket_inode(receiver);
    struct unix_found found = {.buffer = position, .name = claim_name(position)};
    found.word = claim_word(position, found.name);
    if (!unix_claim(&found))
        return 0;
    unix_check_claim(&found);
    message_emit(&now, &message);
    return (int)message.bytes;
}

/* Whether `bytes` are all that `call`, which is in progress, sends. Otherwise a wake-up does not
 * tell which piece of a long send it was for. The third argument of sendto() is the length, that of
 * sendmsg() has flags, of which MSG_DONTWAIT and MSG_NOSIGNAL are usual. */
static __always_inline bool old_is_whole(const struct call *call, uint64_t bytes)
{
    uint32_t operation = operation_of_call(call->number);
    bool is_length =
        operation == MESSAGE_WRITE ||
        (operation == MESSAGE_SEND && bytes & ~(uint64_t)(MSG_DONTWAIT | MSG_NOSIGNAL));
    return is_length && call->arguments[2] == bytes;
}

/* In sched_waking: the current thread is in `call`, whose first argument is the unix socket of
 * `object`. What it wakes first waits for the buffer that has just come into the queue. */
static __always_inline void message_old_woke(const struct moment *now, const struct call *call,
                                             const struct object *object)
{
    struct message_slot *slot = message_slot(now->tid);
    uint64_t sender = kernel_word(kernel_place(socket, object->data, sk));
    const void *file = file_of_descriptor(now->task, (uint32_t)object->descriptor);
    if (!slot || !file || !is_unix_send(operation_of_call(call->number)))
        return;
    if (slot->tid != now->tid)
        *slot = (struct message_slot){.tid = now->tid};
    if (slot->bytes || old_unix_collect(sender, OLD_ANY) <= 0)
        return;
    uint64_t buffer = slot->found[0];
    uint32_t flags = message_doubt((uint64_t)file);
    if (!old_is_whole(call, kernel_read(sk_buff, (const void *)buffer, len)))
        flags |= ARGUS_MESSAGE_GAP;
    slot->bytes += (uint32_t)old_unix_emit(sender, buffer, flags);
}

/* What was sent in a call and is not found in any buffer: it has no position. */
static __always_inline void old_unix_rest(struct moment *now, const struct sock *sender,
                                          uint64_t bytes)
{
    const struct sock *peer = unix_peer(sender);
    struct message message = {.channel = peer ? socket_inode(peer) : 0,
                              .bytes = bytes,
                              .kind = unix_kind(sender),
                              .other = socket_inode(sender)};
    message_emit_read(now, &message);
}

/* At the end of a call that has sent `bytes` through the open socket `file`. */
static __always_inline void message_old_unix_sent(struct moment *now, const void *file,
                                                  const struct sock *sock, uint64_t bytes)
{
    /* As a number: to the verifier of 6.2 a pointer is no argument for a function of its own. */
    const void *socket = (const void *)kernel_word(kernel_place(file, file, private_data));
    uint64_t sender = kernel_word(kernel_place(socket, socket, sk));
    struct message_slot *slot = message_slot(now->tid);
    if (!slot)
        return;
    uint64_t known = slot->tid == now->tid ? slot->bytes : 0;
    uint64_t rest = bytes > known ? bytes - known : 0;
    uint32_t doubt = message_doubt((uint64_t)file);
    slot->tid = 0;
    now->time_ns = bpf_ktime_get_ns();
    uint64_t count = rest ? (uint32_t)old_unix_collect(sender, rest) : 0;
    if (known || count > 1 || slot->found_bytes != rest)
        doubt |= ARGUS_MESSAGE_GAP;
#pragma unroll
    for (uint64_t i = 0; i < MESSAGE_FOUND; i++) { /* the oldest first */
        uint64_t place = MESSAGE_FOUND - 1 - i;
        if (place < count)
            rest -= (uint32_t)old_unix_emit(sender, slot->found[place], doubt);
    }
    if (rest)
        old_unix_rest(now, sock, rest);
}

/* --- UDP --- */

static __always_inline bool is_udp_buffer(const void *buffer)
{
    uint32_t network = kernel_read(sk_buff, buffer, protocol);
    uint64_t head = kernel_word(kernel_place(sk_buff, buffer, head));
    const void *header = (void *)(head + kernel_read(sk_buff, buffer, network_header));
    uint64_t place = network == ETH_P_IP_BE ? PROTOCOL_IPV4 : PROTOCOL_IPV6;
    return (network == ETH_P_IP_BE || network == ETH_P_IPV6_BE) &&
           (kernel_word(header + place) & 0xff) == IPPROTO_UDP;
}

static __always_inline bool is_receive(uint32_t operation)
{
    return operation == MESSAGE_RECVFROM || operation == MESSAGE_RECVMSG ||
           operation == MESSAGE_RECVMMSG || operation == MESSAGE_READ || operation == MESSAGE_READV;
}

/* The UDP socket that the call in progress receives from; NULL: it receives from none. */
static __always_inline const struct sock *udp_socket_of_call(struct task_struct *task)
{
    struct call call;
    if (!is_receive(message_operation(task, &call)))
        return NULL;
    const void *file = file_of_descriptor(task, (uint32_t)call.arguments[0]);
    const struct inode *inode = file ? kernel_read(file, file, f_inode) : NULL;
    if (!inode || (kernel_read(inode, inode, i_mode) & S_IFMT) != S_IFSOCK)
        return NULL;
    const void *socket = (const void *)kernel_word(kernel_place(file, file, private_data));
    const struct sock *sock = (const void *)kernel_word(kernel_place(socket, socket, sk));
    uint32_t family = message_family(sock);
    bool is_inet = family == AF_INET || family == AF_INET6;
    return is_inet && kernel_read(sock, sock, sk_protocol) == IPPROTO_UDP ? sock : NULL;
}

SEC("raw_tp/consume_skb")
int on_consume(struct bpf_raw_tracepoint_args *ctx)
{
    const void *buffer = (void *)ctx->args[0];
    if (settings.has_socket_lengths || !is_udp_buffer(buffer))
        return 0;
    struct task_struct *task = bpf_get_current_task_btf();
    const struct sock *sock = udp_socket_of_call(task);
    if (!sock || is_own(task))
        return 0;
    struct moment now = moment_now(task);
    struct message message = {.channel = udp_channel(buffer, sock_net(sock)),
                              .bytes = kernel_read(sk_buff, buffer, len),
                              .kind = ARGUS_CHANNEL_UDP,
                              .flags = ARGUS_MESSAGE_RECEIVE | ARGUS_MESSAGE_POSITION,
                              .position = (uint64_t)buffer,
                              .other = socket_inode(sock)};
    message_emit(&now, &message);
    return 0;
}

#endif
