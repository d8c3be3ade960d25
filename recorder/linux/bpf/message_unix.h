/* Unix sockets: the sender puts its message into a buffer (sk_buff; a stream longer than about 36 KiB into several) and that
 * into the receiver's queue, and the receiver copies out of the same buffer. Its address is the position.
 *
 * The receiver is easy: skb_copy_datagram_iovec has the buffer, in the order of the queue. The sender calls sk_data_ready when
 * the buffer is in the queue and the lock is given back (net/unix/af_unix.c): its buffer is the last of the queue, unless
 * another sender was just as fast, or the receiver faster. So a sender marks the buffer that it took for its own, in a table
 * beside (`claims`): of the last few, ours is one that is not marked, and most likely one that was allocated on
 * this cpu. When that leaves two, or only one that was allocated elsewhere, the record is marked doubtful. What was received
 * already when we look has no position; how many bytes it was is known when the call returns (sock_send_length).
 */
#ifndef ARGUS_BPF_MESSAGE_UNIX_H
#define ARGUS_BPF_MESSAGE_UNIX_H

#include "message_record.h"

#define MESSAGE_CLAIMS 8192 /* a power of two */
#define MESSAGE_RIVALS 3    /* buffers that are looked at */

/* A buffer in a queue that has a record, of its send or of a receive that came first. */
struct message_claim {
    uint64_t buffer;
    uint64_t
        sender; /* the socket: with `bytes` it tells the buffer from a later one at the same address */
    uint32_t bytes;
    uint32_t received; /* 1: before its sender could claim it */
};

/* Two places for the buffers with one hash: the older is given up for a third, so none is lost within the time of a race. */
struct message_claims {
    struct message_claim way[2];
    uint64_t taken;  /* the last bit: which was taken last */
    uint64_t unused; /* so that none lies on two cache lines */
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, MESSAGE_CLAIMS);
    __type(key, uint32_t);
    __type(value, struct message_claims);
} claims SEC(".maps");

/* The entry of `buffer`; without one a place for it if it is to be `put` there, or NULL. */
static __always_inline struct message_claim *claim_of(uint64_t buffer, bool put)
{
    uint32_t key = (buffer * 0x9e3779b97f4a7c15ull >> 40) & (MESSAGE_CLAIMS - 1);
    struct message_claims *set = bpf_map_lookup_elem(&claims, &key);
    if (!set)
        return NULL;
    struct message_claim *first = &set->way[0], *second = &set->way[1];
    if (first->buffer == buffer)
        return first;
    if (second->buffer == buffer)
        return second;
    if (!put)
        return NULL;
    return set->taken++ & 1 ? first : second;
}

static __always_inline bool claim_fits(const struct message_claim *claim, uint64_t buffer)
{
    const void *place = (const void *)buffer;
    return claim && claim->bytes == kernel_read(sk_buff, place, len) &&
           claim->sender == kernel_word(kernel_place(sk_buff, place, sk));
}

/* How surely `buffer` is the one that the current thread has just sent. */
enum unix_fit { UNIX_FIT_NOT, UNIX_FIT_PERHAPS, UNIX_FIT_HERE };

static __always_inline enum unix_fit unix_fit(uint64_t buffer)
{
    struct message_claim *claim = claim_of(buffer, false);
    if (claim_fits(claim, buffer)) /* received: it, or an earlier one at the same address */
        return claim->received ? UNIX_FIT_PERHAPS : UNIX_FIT_NOT;
    if (bpf_core_field_exists(struct sk_buff, alloc_cpu) &&
        kernel_read(sk_buff, (const void *)buffer, alloc_cpu) != bpf_get_smp_processor_id())
        return UNIX_FIT_PERHAPS;
    return UNIX_FIT_HERE;
}

/* The buffer that the current thread has just put into the queue of `receiver`; 0: not known. */
static __always_inline uint64_t unix_own_buffer(const struct sock *receiver, uint32_t *ret_flags)
{
    uint64_t head = (uint64_t)kernel_place(sock, receiver, sk_receive_queue);
    uint64_t at = kernel_word(kernel_place(sock, receiver, sk_receive_queue.prev));
    uint64_t best = 0;
    enum unix_fit best_fit = UNIX_FIT_NOT;
    bool rival = false;
    for (uint64_t i = 0; i < MESSAGE_RIVALS && at && at != head; i++) {
        enum unix_fit fit = unix_fit(at);
        if (fit > best_fit) {
            best_fit = fit;
            best = at;
            rival = false;
        } else if (fit != UNIX_FIT_NOT && fit == best_fit) {
            rival = true;
        } else if (best_fit == UNIX_FIT_HERE) {
            break; /* what lies before it has been there for longer */
        }
        at = kernel_word(kernel_place(sk_buff, (const void *)at, prev));
    }
    if (rival || best_fit == UNIX_FIT_PERHAPS)
        *ret_flags |= ARGUS_MESSAGE_DOUBTFUL;
    return best;
}

/* Whether the buffer is still in its queue, so that what has been read of it before was true: a receiver that takes it out
 * clears its links, and frees it. */
static __always_inline bool unix_is_queued(uint64_t buffer)
{
    const void *next = (const void *)kernel_word(kernel_place(sk_buff, (const void *)buffer, next));
    return next && kernel_word(kernel_place(sk_buff, next, prev)) == buffer;
}

static __always_inline uint32_t unix_kind(const struct sock *sock)
{
    uint32_t type = kernel_read(sock, sock, sk_type);
    if (type == SOCK_STREAM)
        return ARGUS_CHANNEL_UNIX_STREAM;
    return type == SOCK_DGRAM ? ARGUS_CHANNEL_UNIX_DATAGRAM : ARGUS_CHANNEL_UNIX_SEQPACKET;
}

static __always_inline void unix_claim(uint64_t buffer, uint64_t sender, uint32_t bytes,
                                       uint32_t received)
{
    struct message_claim *claim = claim_of(buffer, true);
    if (!claim)
        return;
    *claim = (struct message_claim){buffer, sender, bytes, 0};
    __sync_fetch_and_add(&claim->received, received); /* a barrier, too */
}

/* `buffer` is received; its sender may still be about to look for it. The sender takes its record's time before it looks, and
 * the receiver after it has marked: so a receive with an earlier time than its send has been seen by it. */
static __always_inline void unix_unclaim(uint64_t buffer, uint64_t sender, bool consumed)
{
    struct message_claim *claim = claim_of(buffer, false);
    if (!claim_fits(claim, buffer))
        unix_claim(buffer, sender, kernel_read(sk_buff, (const void *)buffer, len), 1);
    else if (consumed && !claim->received)
        claim->buffer = 0;
}

/* In sk_data_ready: the current thread has put a buffer into the queue of `receiver`. */
static __always_inline void message_unix_sent(struct task_struct *task, const struct sock *receiver)
{
    struct moment now = moment_now(task);
    struct message_slot *slot = message_slot(now.tid);
    if (!slot || kernel_read(sock, receiver, __sk_common.skc_state) == TCP_LISTEN)
        return;
    if (slot->tid != now.tid)
        *slot = (struct message_slot){.tid = now.tid};
    struct message message = {.flags = ARGUS_MESSAGE_POSITION};
    message.position = unix_own_buffer(receiver, &message.flags);
    const void *buffer = (const void *)message.position;
    uint64_t sender = kernel_word(kernel_place(sk_buff, buffer, sk));
    message.bytes = kernel_read(sk_buff, buffer, len);
    if (!message.position || !unix_is_queued(message.position)) {
        slot->not_found++;
        return;
    }
    message.kind = unix_kind(receiver);
    message.channel = socket_inode(receiver);
    message.other = socket_inode((const void *)sender);
    unix_claim(message.position, sender, message.bytes, 0);
    slot->bytes += message.bytes;
    message_emit(&now, &message);
}

/* In sock_send_length, just before the call returns: what was gone when we looked for it. */
static __always_inline void message_unix_rest(struct task_struct *task, const struct sock *sender,
                                              int64_t bytes)
{
    struct message_slot *slot = message_slot(task->pid);
    if (!slot || slot->tid != (uint32_t)task->pid)
        return;
    if (slot->not_found && bytes >= 0 && (uint64_t)bytes >= slot->bytes) {
        struct moment now = moment_now(task);
        const void *peer = unix_peer(sender);
        struct message message = {
            .channel = peer ? socket_inode(peer) : 0,
            .bytes = bytes - slot->bytes,
            .kind = unix_kind(sender),
            .other = socket_inode(sender),
        };
        message_emit(&now, &message);
    }
    slot->tid = 0;
}

/* What the arguments of the system call in progress tell of a receive: 0 inside a call that has none, as of io_uring. */
struct unix_receive {
    uint64_t inode; /* of the socket */
    uint32_t flags; /* ARGUS_MESSAGE_PEEK, or 0 */
};

static __always_inline struct unix_receive unix_receive_of_call(struct task_struct *task)
{
    struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
    uint32_t operation = message_operation(task);
    struct unix_receive receive = {0};
    if (operation == MESSAGE_RECVMSG)
        receive.flags = arch_argument2(regs) & MSG_PEEK ? ARGUS_MESSAGE_PEEK : 0;
    else if (operation == MESSAGE_RECVFROM || operation == MESSAGE_RECVMMSG)
        receive.flags = arch_argument3(regs) & MSG_PEEK ? ARGUS_MESSAGE_PEEK : 0;
    else if (operation != MESSAGE_READ && operation != MESSAGE_READV)
        return receive;
    const void *file = file_of_descriptor(task, (uint32_t)arch_argument0(regs));
    const struct inode *inode = file ? kernel_read(file, file, f_inode) : NULL;
    if (inode && (kernel_read(inode, inode, i_mode) & S_IFMT) == S_IFSOCK)
        receive.inode = kernel_read(inode, inode, i_ino);
    return receive;
}

/* In skb_copy_datagram_iovec: `bytes` of `buffer`, which `sender` sent, are about to be copied to the current thread. */
static __always_inline void message_unix_received(struct task_struct *task, uint64_t buffer,
                                                  const struct sock *sender, uint64_t bytes)
{
    uint32_t kind = unix_kind(sender);
    if (kind == ARGUS_CHANNEL_UNIX_STREAM && !bytes) /* a look passes by what it has no room for */
        return;
    struct unix_receive receive = unix_receive_of_call(task);
    const void *place = (const void *)buffer;
    struct message message = {
        .channel = receive.inode,
        .bytes = bytes,
        .kind = kind,
        .flags = receive.flags | ARGUS_MESSAGE_RECEIVE | ARGUS_MESSAGE_POSITION,
        .position = buffer,
        .other = socket_inode(sender),
    };
    uint64_t left = kernel_read(sk_buff, place, len);
    if (kind == ARGUS_CHANNEL_UNIX_STREAM)
        left -= kernel_read(unix_skb_parms, kernel_place(sk_buff, place, cb), consumed);
    else if (bytes < left)
        message.flags |= ARGUS_MESSAGE_TRUNCATED;
    bool is_last = bytes >= left || kind != ARGUS_CHANNEL_UNIX_STREAM;
    unix_unclaim(buffer, (uint64_t)sender, is_last && !receive.flags);
    struct moment now = moment_now(task);
    message_emit(&now, &message);
}

#endif
