/* Messages through the smaller files: eventfd, signalfd, timerfd, inotify and POSIX message queues.
 *
 * All but the last are anonymous files, without an inode of their own; the name that the kernel
 * gave them tells what they are. From the data that a program reads, the record has the numbers
 * that identify the cause: number of units, signal and its sender, number of expirations.
 */
#ifndef ARGUS_BPF_MESSAGE_FILE_H
#define ARGUS_BPF_MESSAGE_FILE_H

#include "message_record.h"

/* The first 8 bytes of the names, "[eventfd]" …, as little-endian numbers. */
#define NAME8(a, b, c, d, e, f, g, h)                                                              \
    ((uint64_t)(a) | (uint64_t)(b) << 8 | (uint64_t)(c) << 16 | (uint64_t)(d) << 24 |              \
     (uint64_t)(e) << 32 | (uint64_t)(f) << 40 | (uint64_t)(g) << 48 | (uint64_t)(h) << 56)
#define NAME_EVENTFD  NAME8('[', 'e', 'v', 'e', 'n', 't', 'f', 'd')
#define NAME_TIMERFD  NAME8('[', 't', 'i', 'm', 'e', 'r', 'f', 'd')
#define NAME_SIGNALFD NAME8('[', 's', 'i', 'g', 'n', 'a', 'l', 'f')
#define NAME_INOTIFY  NAME8('i', 'n', 'o', 't', 'i', 'f', 'y', 0)

#define EFD_SEMAPHORE       1
#define CLOCK_ALARM_FIRST   8 /* CLOCK_REALTIME_ALARM, CLOCK_BOOTTIME_ALARM */
#define CLOCK_ALARM_LAST    9
#define SIGINFO_BYTES       128 /* struct signalfd_siginfo */
#define SIGINFO_PID         12
#define SIGINFO_SIGNALS_MAX 16

static __always_inline void message_eventfd(struct moment *now, const void *counter,
                                            const void *buffer, uint32_t flags)
{
    uint64_t units = 0;
    bpf_probe_read_user(&units, sizeof(units), buffer);
    struct message message = {
        .channel = (uint64_t)counter,
        .bytes = units,
        .kind = ARGUS_CHANNEL_EVENTFD,
        .flags = flags | ARGUS_MESSAGE_POSITION,
        .position = kernel_read(eventfd_ctx, counter, count),
        .other = kernel_read(eventfd_ctx, counter, flags) & EFD_SEMAPHORE,
    };
    message_emit_read(now, &message);
}

static __always_inline void message_timerfd(struct moment *now, const void *timer,
                                            const void *buffer)
{
    uint64_t expirations = 0;
    bpf_probe_read_user(&expirations, sizeof(expirations), buffer);
    int clock = kernel_read(timerfd_ctx, timer, clockid);
    bool is_alarm = clock >= CLOCK_ALARM_FIRST && clock <= CLOCK_ALARM_LAST;
    struct message message = {
        .channel = (uint64_t)timer,
        .bytes = expirations,
        .kind = ARGUS_CHANNEL_TIMERFD,
        .flags = ARGUS_MESSAGE_RECEIVE,
        .other = is_alarm ? 0 : (uint64_t)timer, /* the hrtimer is the first thing in it */
    };
    message_emit_read(now, &message);
}

static __always_inline void message_signalfd(struct moment *now, const void *object,
                                             const void *buffer, uint64_t bytes)
{
    for (uint64_t i = 0; i < SIGINFO_SIGNALS_MAX && (i + 1) * SIGINFO_BYTES <= bytes; i++) {
        const void *place = buffer + i * SIGINFO_BYTES;
        uint32_t number = 0, process = 0;
        bpf_probe_read_user(&number, sizeof(number), place);
        bpf_probe_read_user(&process, sizeof(process), place + SIGINFO_PID);
        struct message message = {
            .channel = (uint64_t)object,
            .bytes = SIGINFO_BYTES,
            .kind = ARGUS_CHANNEL_SIGNALFD,
            .flags = ARGUS_MESSAGE_RECEIVE,
            .other = (uint64_t)number << 32 | process,
        };
        message_emit_read(now, &message);
    }
}

static __always_inline void message_inotify(struct moment *now, const void *group, uint64_t bytes)
{
    struct message message = {
        .channel = (uint64_t)group,
        .bytes = bytes,
        .kind = ARGUS_CHANNEL_INOTIFY,
        .flags = ARGUS_MESSAGE_RECEIVE,
    };
    message_emit_read(now, &message);
}

/* A file without a type: `object` is its private data. */
static __always_inline void message_anonymous(struct moment *now, const void *file,
                                              const void *object, const void *buffer,
                                              uint64_t bytes, uint32_t flags)
{
    uint64_t name = anonymous_name(file);
    bool receive = flags & ARGUS_MESSAGE_RECEIVE;
    if (name == NAME_EVENTFD)
        message_eventfd(now, object, buffer, flags);
    else if (name == NAME_TIMERFD && receive)
        message_timerfd(now, object, buffer);
    else if (name == NAME_SIGNALFD && receive)
        message_signalfd(now, object, buffer, bytes);
    else if (name == NAME_INOTIFY && receive)
        message_inotify(now, object, bytes);
}

/* mq_timedsend() has the priority as its fourth argument, mq_timedreceive() a pointer to where it
 * goes, or NULL. */
static __always_inline void message_queue(struct moment *now, const struct inode *inode,
                                          uint64_t bytes, uint64_t priority, uint32_t flags)
{
    uint32_t received;
    struct message message = {
        .channel = message_inode(inode),
        .bytes = bytes,
        .kind = ARGUS_CHANNEL_MQUEUE,
        .flags = flags,
        .other = (uint32_t)priority + 1ull,
    };
    if (flags & ARGUS_MESSAGE_RECEIVE) {
        bool known = priority &&
                     bpf_probe_read_user(&received, sizeof(received), (const void *)priority) == 0;
        message.other = known ? received + 1ull : 0;
    }
    if (bpf_core_field_exists(struct mqueue_inode_info, attr)) {
        const void *queue =
            (const void *)inode - bpf_core_field_offset(struct mqueue_inode_info, vfs_inode);
        message.flags |= ARGUS_MESSAGE_POSITION;
        message.position = (uint64_t)kernel_read(mqueue_inode_info, queue, attr.mq_curmsgs);
    }
    message_emit_read(now, &message);
}

#endif
