/* Messages: what was sent and received, through which object, and where in its stream.
 *
 * Both ends must record the same number, so that the reader of the trace can pair a send with its
 * receive, even after losses and if the recording began in the middle. Nothing is counted here:
 * every number is kept by the kernel itself (docs/man/argus-trace.5.md, MESSAGES). The small tables
 * only help to find out to which send or receive a number belongs.
 *
 *   message_pipe.h  a pipe's buffers are numbered by `head` and `tail`, which never decrease
 *   message_unix.h  a unix socket hands the sender's buffer (sk_buff) to the receiver: its address
 *   message_tcp.h   TCP numbers its bytes
 *   message_udp.h   on loopback a datagram arrives in the sender's buffer, too
 *   message_file.h  eventfd, signalfd, timerfd, inotify and message queues: their own counters
 *
 * Sockets have tracepoints inside of their calls, where the state is still that of the message
 * (message_socket.h). All others, and what is spliced, are read when the system call returns
 * (message_call.h), when another thread may have changed the state: then the record is marked
 * doubtful, if that can be detected.
 */
#ifndef ARGUS_BPF_MESSAGE_RECORD_H
#define ARGUS_BPF_MESSAGE_RECORD_H

#include "kernel_read.h"
#include "object.h"
#include "ring.h"

#define AF_INET     2
#define AF_INET6    10
#define SOCK_STREAM 1
#define SOCK_DGRAM  2
#define IPPROTO_TCP 6
#define IPPROTO_UDP 17
#define TCP_LISTEN  10
#define MSG_PEEK    2

#define MESSAGE_SLOTS 4096 /* a power of two */
#define MESSAGE_FOUND 4    /* a power of two */

struct message {
    uint64_t channel, bytes, position, other;
    uint32_t kind, flags;
};

/* What a thread has done in its call so far, indexed by the lower bits of its ID. Another thread
 * with the same lower bits overwrites it, and some information is lost. */
struct message_slot {
    uint32_t tid;
    uint32_t not_found;     /* buffers that it sent and that were gone (message_unix.h) */
    uint64_t bytes;         /* in those that were found */
    uint64_t sent;          /* the last one that was found */
    uint64_t pipe;          /* that it wrote to (message_pipe.h); 0: none … */
    uint64_t pipe_position; /* … where that write ended … */
    uint64_t pipe_before;   /* … and the last one before it; 0: not known */
    uint64_t tcp;           /* socket that it sends to, in pieces (message_tcp.h); 0: none */
    uint64_t tcp_left;      /* at the last step: bytes still to be sent … */
    uint32_t tcp_next;      /* … and the number of the next one */
    uint32_t tcp_begin;     /* the number at which the last piece began */
    uint64_t consumed; /* buffer whose last bytes it has received (message_unix.h), 0: none … */
    uint64_t consumed_name; /* … what it is called in message_claim.h … */
    uint32_t consumed_tid;  /* … and the receiving thread */
    uint64_t found_count;   /* buffers in `found` (message_old.h) */
    uint64_t found_bytes;   /* in them */
    uint64_t found[MESSAGE_FOUND];
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, MESSAGE_SLOTS);
    __type(key, uint32_t);
    __type(value, struct message_slot);
} slots SEC(".maps");

static __always_inline struct message_slot *message_slot(uint32_t tid)
{
    uint32_t key = tid & (MESSAGE_SLOTS - 1);
    return bpf_map_lookup_elem(&slots, &key);
}

static __always_inline void message_emit(const struct moment *now, const struct message *message)
{
    emit(now, ARGUS_ID_MESSAGE, message->channel,
         ARGUS_MESSAGE_WHAT(message->bytes, message->kind, message->flags), message->position,
         message->other);
}

/* The same for what was read when the call returned, when others may already have moved the
 * position: stamped after that, so that whatever the position has seen began before the record. */
static __always_inline void message_emit_read(struct moment *now, const struct message *message)
{
    now->time_ns = bpf_ktime_get_ns();
    message_emit(now, message);
}

/* Objects in different file systems can have the same inode number. */
static __always_inline uint64_t message_inode(const struct inode *inode)
{
    const struct super_block *super = kernel_read(inode, inode, i_sb);
    return kernel_read(inode, inode, i_ino) ^ (uint64_t)kernel_read(super_block, super, s_dev)
                                                  << 32;
}

/* What the system call in progress does, which goes to `ret`; MESSAGE_NOTHING outside of one. */
static __always_inline uint32_t message_operation(struct task_struct *task, struct call *ret)
{
    return call_now(task, ret) ? operation_of_call(ret->number) : MESSAGE_NOTHING;
}

/* The open file is in use elsewhere, too: by another process or descriptor. */
static __always_inline bool file_is_shared(const void *file)
{
    if (bpf_core_field_exists(struct file___since_6_13,
                              f_ref)) /* 0 is one user, include/linux/file_ref.h */
        return kernel_read(file___since_6_13, file, f_ref.refcnt.counter) > 0;
    return kernel_read(file___before_6_13, file, f_count.counter) > 1;
}

/* Whether another thread or process may send through the same socket (`file`) as the current thread
 * at this moment, so that what is read of it when the call ends may be the other's:
 * ARGUS_MESSAGE_DOUBTFUL, or 0. Not inlined, so that the verifier looks at it once. */
__attribute__((noinline)) int message_doubt(uint64_t file)
{
    const struct task_struct *task = bpf_get_current_task_btf();
    bool alone = file && task->signal->live.counter <= 1 && !file_is_shared((const void *)file);
    return alone ? 0 : ARGUS_MESSAGE_DOUBTFUL;
}

static __always_inline uint32_t message_family(const struct sock *sock)
{
    return kernel_read(sock, sock, __sk_common.skc_family);
}

#endif
