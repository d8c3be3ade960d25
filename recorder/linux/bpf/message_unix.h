/* Unix sockets: the sender puts its message into a buffer (sk_buff; a stream longer than about 36
 * KiB into several) and the buffer into the receiver's queue, and the receiver copies from the same
 * buffer. Its address is the position.
 *
 * The receiver is easy: skb_copy_datagram_iovec has the buffer, in the order of the queue. The
 * sender calls sk_data_ready when the buffer is in the queue and the lock is released
 * (net/unix/af_unix.c): its buffer is the last of the queue, unless another sender was equally
 * fast, or the receiver faster. So a sender claims the buffer that it has identified as its own
 * (message_claim.h). Of the last few buffers, the sender's is one without a claim, and most likely
 * one that was allocated on this CPU. If that leaves two, or only one that was allocated elsewhere,
 * the record is marked doubtful. A buffer that was already received has no position; its number of
 * bytes is known when the call returns (sock_send_length).
 */
#ifndef ARGUS_BPF_MESSAGE_UNIX_H
#define ARGUS_BPF_MESSAGE_UNIX_H

#include "message_claim.h"

#define MESSAGE_RIVALS 3 /* buffers that are examined */

/* How surely a buffer is the one that the current thread has just sent. */
enum unix_fit {
    UNIX_FIT_NOT,
    UNIX_FIT_ELSEWHERE, /* allocated on another cpu */
    UNIX_FIT_MARKED, /* received in part already; or it has the mark of an earlier one at the same
                        address */
    UNIX_FIT_HERE,
};

/* A buffer, and its state when it was examined. */
struct unix_found {
    uint64_t buffer, name, word;
};

static __always_inline bool unix_is_consumed(uint64_t buffer)
{
    const void *place = (const void *)buffer;
    return kernel_read(unix_skb_parms, kernel_place(sk_buff, place, cb), consumed) >=
           kernel_read(sk_buff, place, len);
}

static __always_inline enum unix_fit unix_fit(const struct unix_found *found)
{
    const void *buffer =
        (const void *)found->buffer; /* a field of ours is none for kernel_read() */
    bool is_marked = found->word & CLAIM_MARKS;
    if (found->word && !is_marked)
        return UNIX_FIT_NOT;
    if (found->word & CLAIM_CONSUMED && unix_is_consumed(found->buffer))
        return UNIX_FIT_NOT;
    if (bpf_core_field_exists(struct sk_buff, alloc_cpu) &&
        kernel_read(sk_buff, buffer, alloc_cpu) != bpf_get_smp_processor_id())
        return UNIX_FIT_ELSEWHERE;
    return is_marked ? UNIX_FIT_MARKED : UNIX_FIT_HERE;
}

/* The buffer that the current thread has just put into the queue of `receiver`; 0: not known.
 * `last` is the one that it sent before that in the same call: ours comes behind it. */
static __always_inline struct unix_found unix_own_buffer(const struct sock *receiver, uint64_t last,
                                                         uint32_t *ret_flags)
{
    uint64_t head = (uint64_t)kernel_place(sock, receiver, sk_receive_queue);
    uint64_t at = kernel_word(kernel_place(sock, receiver, sk_receive_queue.prev)), behind = head;
    struct unix_found best = {0};
    enum unix_fit best_fit = UNIX_FIT_NOT;
    uint32_t near = 0; /* buffers of this cpu that may be ours */
    for (uint64_t i = 0; i < MESSAGE_RIVALS && at && at != head; i++) {
        const void *place = (const void *)at;
        if (kernel_word(kernel_place(sk_buff, place, next)) != behind) /* received meanwhile */
            *ret_flags |= i ? ARGUS_MESSAGE_DOUBTFUL : 0;
        struct unix_found found = {.buffer = at, .name = claim_name(at)};
        found.word = claim_word(at, found.name);
        enum unix_fit fit = unix_fit(&found);
        if (fit == UNIX_FIT_NOT && at == last)
            break;
        near += fit >= UNIX_FIT_MARKED;
        if (fit > best_fit) {
            best_fit = fit;
            best = found;
        }
        behind = at;
        at = kernel_word(kernel_place(sk_buff, place, prev));
    }
    if (near > 1 || best_fit < UNIX_FIT_HERE)
        *ret_flags |= ARGUS_MESSAGE_DOUBTFUL;
    return best;
}

/* Whether the buffer is still in its queue, so that what has been read of it before was true: a
 * receiver that takes it out clears its links, and frees it. */
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

/* The current thread has sent this buffer. False: another thread says that it did. */
static __always_inline bool unix_claim(const struct unix_found *found)
{
    uint64_t buffer = found->buffer, name = found->name, word = found->word;
    if (!(word & CLAIM_CONSUMED) && claim_put(buffer, name, word, 0))
        return true;
    word = claim_word(buffer, name); /* being received since we looked, or before */
    if (word && !(word & CLAIM_MARKS))
        return false;
    if (!(word & CLAIM_CONSUMED))
        claim_put(buffer, name, word, 0);
    return true;
}

/* It may have been received, and its word been emptied, just before it was claimed. */
static __always_inline void unix_check_claim(const struct unix_found *found)
{
    if (unix_is_queued(found->buffer) && claim_name(found->buffer) == found->name)
        return;
    uint64_t word = claim_word(found->buffer, found->name);
    if (word && !(word & CLAIM_MARKS))
        claim_end(found->buffer, word);
}

/* The buffer whose last bytes the thread of `slot` has received is out of its queue by now. If the
 * copy has failed, it is not. */
static __always_inline void unix_end_consumed(struct message_slot *slot)
{
    uint64_t buffer = slot->consumed, name = slot->consumed_name;
    if (!buffer)
        return;
    slot->consumed = 0;
    if (unix_is_queued(buffer) && claim_name(buffer) == name)
        return;
    uint64_t word = claim_word(buffer, name);
    if (word & CLAIM_CONSUMED)
        claim_end(buffer, word);
}

/* The thread `tid` is at the end of a call that may have received from a unix socket. Not inlined,
 * so that the verifier looks at it once, and not on each way through the end of a system call. */
__attribute__((noinline)) int message_unix_call_ends(uint32_t tid)
{
    struct message_slot *slot = message_slot(tid);
    if (slot && slot->consumed_tid == tid)
        unix_end_consumed(slot);
    return 0;
}

/* Adds `mark` to the word of a buffer; one that has none yet was received before its sender could
 * claim it. False: the sender has changed the word meanwhile. */
static __always_inline bool unix_try_mark(uint64_t buffer, uint64_t name, uint64_t mark)
{
    uint64_t word = claim_word(buffer, name);
    uint64_t marks = word & CLAIM_MARKS;
    if (word && !marks && mark == CLAIM_RECEIVED)
        return true;
    return claim_put(buffer, name, word, marks | mark | (word ? 0 : CLAIM_RECEIVED));
}

static __always_inline void unix_mark(uint64_t buffer, uint64_t name, uint64_t mark)
{
    if (!unix_try_mark(buffer, name, mark) && !unix_try_mark(buffer, name, mark))
        unix_try_mark(buffer, name, mark); /* its sender changes it at most twice */
}

#define UNIX_IN_QUEUE 1u /* a datagram is taken out of the queue before it is copied */
#define UNIX_CONSUMED 2u /* nothing is left of it after this */

/* `buffer` is received; its sender may still be about to look for it. The sender takes its record's
 * time before it looks, and the receiver after it has marked: so a receive with an earlier time
 * than its send has been seen by it. Not inlined: in one piece with its caller clang makes a loop
 * of both, which 6.1 does not take. */
__attribute__((noinline)) int unix_note_receive(uint32_t tid, uint64_t buffer, uint32_t how)
{
    uint64_t name = claim_name(buffer);
    struct message_slot *slot = message_slot(tid);
    if (!slot)
        return 0;
    if (slot->consumed_tid == tid)
        unix_end_consumed(slot);
    if (!(how & UNIX_IN_QUEUE)) {
        claim_end(buffer, claim_word(buffer, name));
        return 0;
    }
    unix_mark(buffer, name, how & UNIX_CONSUMED ? CLAIM_CONSUMED : CLAIM_RECEIVED);
    if (how & UNIX_CONSUMED) {
        slot->consumed = buffer;
        slot->consumed_name = name;
        slot->consumed_tid = tid;
    }
    return 0;
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
    struct unix_found found = unix_own_buffer(receiver, slot->sent, &message.flags);
    const void *buffer = (const void *)found.buffer;
    message.position = found.buffer;
    uint64_t sender = kernel_word(kernel_place(sk_buff, buffer, sk));
    message.bytes = kernel_read(sk_buff, buffer, len);
    if (!found.buffer || !unix_is_queued(found.buffer) || !unix_claim(&found)) {
        slot->not_found++;
        return;
    }
    unix_check_claim(&found);
    message.kind = unix_kind(receiver);
    message.channel = socket_inode(receiver);
    message.other = socket_inode((const void *)sender);
    message.flags |= slot->not_found ? ARGUS_MESSAGE_GAP : 0;
    slot->bytes += message.bytes;
    slot->sent = found.buffer;
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

/* What the arguments of the system call in progress tell of a receive: 0 inside a call that has
 * none, as of io_uring. */
struct unix_receive {
    uint64_t inode; /* of the socket */
    uint32_t flags; /* ARGUS_MESSAGE_PEEK, or 0 */
};

static __always_inline struct unix_receive unix_receive_of_call(struct task_struct *task)
{
    struct call call;
    uint32_t operation = message_operation(task, &call);
    struct unix_receive receive = {0};
    if (operation == MESSAGE_RECVMSG)
        receive.flags = call.arguments[2] & MSG_PEEK ? ARGUS_MESSAGE_PEEK : 0;
    else if (operation == MESSAGE_RECVFROM || operation == MESSAGE_RECVMMSG)
        receive.flags = call.arguments[3] & MSG_PEEK ? ARGUS_MESSAGE_PEEK : 0;
    else if (operation != MESSAGE_READ && operation != MESSAGE_READV)
        return receive;
    const void *file = file_of_descriptor(task, (uint32_t)call.arguments[0]);
    const struct inode *inode = file ? kernel_read(file, file, f_inode) : NULL;
    if (inode && (kernel_read(inode, inode, i_mode) & S_IFMT) == S_IFSOCK)
        receive.inode = kernel_read(inode, inode, i_ino);
    return receive;
}

/* In skb_copy_datagram_iovec: `bytes` of `buffer`, which `sender` sent, are about to be copied to
 * the current thread. */
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
    uint32_t how = kind == ARGUS_CHANNEL_UNIX_STREAM || receive.flags ? UNIX_IN_QUEUE : 0;
    unix_note_receive(task->pid, buffer, how | (is_last && !receive.flags ? UNIX_CONSUMED : 0));
    struct moment now = moment_now(task);
    message_emit(&now, &message);
}

#endif
