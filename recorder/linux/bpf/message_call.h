/* Messages that are read after a system call has succeeded: its number tells the operation and the
 * descriptor; then the kind of object is looked up. Most calls are read() and write() of regular
 * files and terminals, and end at the file's type.
 *
 * A descriptor can be closed, or closed and opened again, by another thread while the call sleeps.
 * In the first case there is no record; these are counted (`messages_unseen`).
 */
#ifndef ARGUS_BPF_MESSAGE_CALL_H
#define ARGUS_BPF_MESSAGE_CALL_H

#include "message_file.h"
#include "message_notify.h"
#include "message_old.h"
#include "message_pipe.h"
#include "message_tcp.h"
#include "message_unix.h"
#include "typed.h"

#define FMODE_WRITE   2
#define NO_DESCRIPTOR 0xffffffffu

/* Calls that only sockets have; since Linux 6.3 these have their own tracepoints. */
static __always_inline bool is_socket_call(uint32_t operation)
{
    return operation == MESSAGE_SEND || operation == MESSAGE_RECVFROM ||
           operation == MESSAGE_RECVMSG;
}

/* Its result is how many messages there were, and not how many bytes. */
static __always_inline bool is_batch(uint32_t operation)
{
    return operation == MESSAGE_SENDMMSG || operation == MESSAGE_RECVMMSG;
}

static __always_inline void message_unseen(void)
{
    uint32_t cpu;
    struct bpf_cpu *state = this_cpu(&cpu);
    if (state)
        __sync_fetch_and_add(&state->messages_unseen, 1);
}

/* A socket of a kernel that has no tracepoints in its socket calls, or one that was spliced. */
static __always_inline void message_socket(struct moment *now, const void *file,
                                           const struct sock *sock, uint64_t bytes, uint32_t flags,
                                           bool spliced)
{
    uint32_t family = message_family(sock), type = kernel_read(sock, sock, sk_type);
    bool receive = flags & ARGUS_MESSAGE_RECEIVE;
    if (family == AF_UNIX && !receive && !settings.has_data_ready) {
        message_old_unix_sent(now, file, sock, bytes);
    } else if (family == AF_UNIX &&
               (!receive || spliced)) { /* else skb_copy_datagram_iovec was there */
        const void *peer = unix_peer(sock);
        uint64_t own = socket_inode(sock), other = peer ? socket_inode(peer) : 0;
        struct message message = {.channel = receive ? own : other,
                                  .bytes = bytes,
                                  .kind = unix_kind(sock),
                                  .flags = flags,
                                  .other = receive ? other : own};
        message_emit_read(now, &message);
    } else if ((family == AF_INET || family == AF_INET6) && type == SOCK_STREAM &&
               kernel_read(sock, sock, sk_protocol) == IPPROTO_TCP) {
        if (receive)
            message_tcp_received(now->task, sock, bytes, flags);
        else
            message_tcp_sent(now->task, sock, bytes);
    }
}

/* One object of the call; `buffer` is the user's. */
static __always_inline void message_object(struct moment *now, uint32_t descriptor,
                                           const void *buffer, uint64_t bytes, uint32_t flags,
                                           bool spliced)
{
    const void *file = file_of_descriptor(now->task, descriptor);
    if (!file) {
        message_unseen();
        return;
    }
    const struct inode *inode = (void *)kernel_word(kernel_place(file, file, f_inode));
    const void *data = (void *)kernel_word(kernel_place(file, file, private_data));
    uint32_t type = kernel_read(inode, inode, i_mode) & S_IFMT;
    if (type == S_IFREG) {
        if (!(flags & ARGUS_MESSAGE_RECEIVE))
            message_notify(now, file, inode, bytes);
    } else if (type == S_IFCHR) {
        terminal_used((uint32_t)now->tid, inode, data, flags & ARGUS_MESSAGE_RECEIVE);
    } else if (type == S_IFIFO) {
        message_pipe(now, inode, data, bytes, flags, spliced);
    } else if (type == S_IFSOCK) { /* its own tracepoints see what is spliced into it */
        if ((spliced && flags & ARGUS_MESSAGE_RECEIVE) || !settings.has_socket_lengths)
            message_socket(now, file, kernel_read(socket, data, sk), bytes, flags, spliced);
    } else if (!type) {
        message_anonymous(now, file, data, buffer, bytes, flags);
    }
}

static __always_inline void message_of_queue(struct moment *now, const struct call *call,
                                             uint64_t bytes, uint32_t flags)
{
    const void *file = file_of_descriptor(now->task, (uint32_t)call->arguments[0]);
    if (file)
        message_queue(now, (void *)kernel_word(kernel_place(file, file, f_inode)), bytes,
                      call->arguments[3], flags);
    else
        message_unseen();
}

/* Which descriptors a call read from and wrote to. */
struct message_ends {
    uint32_t from, to;
    uint32_t from_flags;
};

/* vmsplice() fills a pipe, or empties it when it was given the end for reading. */
static __always_inline struct message_ends ends_of_vmsplice(struct task_struct *task,
                                                            uint32_t descriptor)
{
    const void *file = file_of_descriptor(task, descriptor);
    bool fills = !file || kernel_read(file, file, f_mode) & FMODE_WRITE;
    return (struct message_ends){.from = fills ? NO_DESCRIPTOR : descriptor,
                                 .to = fills ? descriptor : NO_DESCRIPTOR};
}

static __always_inline struct message_ends message_ends(struct task_struct *task,
                                                        const struct call *call, uint32_t operation)
{
    uint32_t first = (uint32_t)call->arguments[0];
    struct message_ends ends = {.from = NO_DESCRIPTOR, .to = NO_DESCRIPTOR};
    switch (operation) {
    case MESSAGE_WRITE:
    case MESSAGE_WRITEV:
    case MESSAGE_SEND:
    case MESSAGE_SENDMMSG:
        ends.to = first;
        break;
    case MESSAGE_VMSPLICE:
        return ends_of_vmsplice(task, first);
    case MESSAGE_SPLICE:
        ends.from = first;
        ends.to = (uint32_t)call->arguments[2];
        break;
    case MESSAGE_TEE:
        ends.from = first;
        ends.to = (uint32_t)call->arguments[1];
        ends.from_flags = ARGUS_MESSAGE_PEEK;
        break;
    case MESSAGE_SENDFILE:
        ends.from = (uint32_t)call->arguments[1];
        ends.to = first;
        break;
    case MESSAGE_RECVFROM:
        ends.from_flags = call->arguments[3] & MSG_PEEK ? ARGUS_MESSAGE_PEEK : 0;
        ends.from = first;
        break;
    case MESSAGE_RECVMSG:
        ends.from_flags = call->arguments[2] & MSG_PEEK ? ARGUS_MESSAGE_PEEK : 0;
        ends.from = first;
        break;
    default:
        ends.from = first;
    }
    return ends;
}

/* The address of the first of an array of buffers (struct iovec). */
static __always_inline const void *first_buffer(const struct call *call, const void *array)
{
    uint64_t address = 0;
    if (call->is_compat)
        bpf_probe_read_user(&address, sizeof(uint32_t), array);
    else
        bpf_probe_read_user(&address, sizeof(address), array);
    return (const void *)address;
}

/* The call has succeeded, and is not one of message queues. */
static __always_inline void message_of_files(struct moment *now, const struct call *call,
                                             uint32_t operation, uint64_t bytes)
{
    struct message_ends ends = message_ends(now->task, call, operation);
    const void *buffer = (const void *)call->arguments[1];
    bool is_splice = operation >= MESSAGE_VMSPLICE && !is_batch(operation);
    if (operation == MESSAGE_READV || operation == MESSAGE_WRITEV)
        buffer = first_buffer(call, buffer);
    if (ends.from != NO_DESCRIPTOR)
        message_object(now, ends.from, buffer, bytes, ARGUS_MESSAGE_RECEIVE | ends.from_flags,
                       is_splice);
    if (ends.to != NO_DESCRIPTOR)
        message_object(now, ends.to, buffer, bytes, 0, is_splice);
}

/* Whether the system call may send or receive. */
static __always_inline bool has_messages(uint64_t number)
{
    return settings.messages && operation_of_call(number) != MESSAGE_NOTHING;
}

/* At the end of `call` of the current thread, which has_messages(), before its end record. */
static __always_inline void messages_of_call(struct moment *now, const struct call *call,
                                             int64_t result)
{
    uint32_t operation = operation_of_call(call->number);
    if (result < 0 && (operation == MESSAGE_WRITE || operation == MESSAGE_WRITEV))
        message_pipe_forget(now);
    if (!settings.has_socket_lengths && is_receive(operation))
        message_unix_call_ends(now->tid);
    if (operation == MESSAGE_QUEUE_SEND && result == 0)
        message_of_queue(now, call, call->arguments[2], 0);
    else if (operation == MESSAGE_QUEUE_RECEIVE && result >= 0)
        message_of_queue(now, call, result, ARGUS_MESSAGE_RECEIVE);
    else if (result > 0 && is_batch(operation) && !settings.has_socket_lengths)
        message_of_files(now, call, operation, batch_bytes(call, result));
    else if (result > 0 && operation <= MESSAGE_SENDFILE &&
             !(settings.has_socket_lengths && is_socket_call(operation)))
        message_of_files(now, call, operation, result);
}

#endif
