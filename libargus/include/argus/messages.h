/* Messages: matches the bytes that one thread received with the bytes that another thread sent.
 *
 * A channel is one direction of a pipe, socket connection, eventfd … (docs/man/argus-trace.5.md,
 * section MESSAGES). A *message* here is one record: what one system call put into a channel or
 * took out of it (for a unix stream: what it put into one of the kernel's buffers). A *pair* joins
 * the part of a send and the part of a receive that are the same bytes; A send or a receive may
 * have many pairs. A pair is *exact* when the records prove it, otherwise it is *ambiguous*: the
 * most likely of several pairs that the records allow.
 */
#ifndef ARGUS_MESSAGES_H
#define ARGUS_MESSAGES_H

#include "argus/event.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Why a message, or a part of it, has no pair. */
enum argus_unpaired {
    ARGUS_UNPAIRED_BEFORE,  /* a receive: its data was sent before the trace began */
    ARGUS_UNPAIRED_UNREAD,  /* a send: not received before the trace ended */
    ARGUS_UNPAIRED_LOST,    /* records near it were lost */
    ARGUS_UNPAIRED_DROPPED, /* the kernel dropped it: queue full, channel closed or reopened */
    ARGUS_UNPAIRED_UNSEEN,  /* the other end is not in the trace: another machine, the kernel … */
    ARGUS_UNPAIRED_KIND,    /* this kind has no sending end (signalfd, timerfd), or no positions */
    ARGUS_UNPAIRED_UNCLEAR, /* the records contradict each other, or there were too many to keep */
    ARGUS_UNPAIRED_REASONS
};

struct argus_message_counts {
    /* number of messages; a receive that leaves the data in the channel counts as a peek */
    uint64_t sends, receives, peeks;
    uint64_t sent_bytes, received_bytes;
    uint64_t exact, ambiguous; /* pairs, without those of peeks */
    uint64_t unpaired_sends[ARGUS_UNPAIRED_REASONS], unpaired_receives[ARGUS_UNPAIRED_REASONS];
};

/* Further threads at one end of a channel are only counted. */
#define ARGUS_CHANNEL_THREADS 4

struct argus_message_channel {
    uint64_t id;  /* arg1 of its records; 0: for records that do not know their channel */
    uint8_t kind; /* enum argus_channel, or an unknown number from a newer recorder */
    uint8_t sender_count, receiver_count; /* entries used; at most ARGUS_CHANNEL_THREADS … */
    bool more_senders, more_receivers;    /* … and these tell whether there were more */
    uint32_t senders[ARGUS_CHANNEL_THREADS], receivers[ARGUS_CHANNEL_THREADS]; /* thread indices */
    struct argus_message_counts counts;
};

/* One end of a pair: the message, and the system call that sent or received it. */
struct argus_message_end {
    uint64_t time_ns; /* of the record */
    uint64_t call_ns; /* when the system call began; 0: before the trace */
    /* bytes that the same call (datagrams: the message) had moved before this pair's first byte */
    uint64_t call_bytes;
    uint64_t bytes;  /* of the whole message */
    uint32_t thread; /* thread index */
    /* `call_bytes` is a guess: an earlier message may have been another thread's */
    bool offset_is_guess;
};

struct argus_message_pair {
    struct argus_message_end send, receive;
    uint64_t bytes; /* bytes that both ends have in common (eventfd: units) */
    uint32_t channel;
    bool exact;
    bool peek; /* the receiver left the data in the channel */
};

/* All messages of one trace. */
struct argus_messages;

/* Called for each pair, in the order in which pairs are found; returning false cancels
 * (ARGUS_ERROR_INTERRUPTED). Indices refer to the tables of `messages`, which are complete only
 * after the last pair. */
typedef bool (*argus_message_pair_function)(void *context, const struct argus_messages *messages,
                                            const struct argus_message_pair *pair);

/* Reads the trace once and pairs its messages. `pair` may be NULL; `trace` is borrowed and must
 * outlive the result. */
struct argus_error *argus_messages_read(const struct argus_trace *trace,
                                        argus_message_pair_function pair, void *context,
                                        struct argus_messages **ret);
void argus_messages_destroy(struct argus_messages *messages);

size_t argus_messages_channels(const struct argus_messages *messages,
                               const struct argus_message_channel **ret);
size_t argus_messages_threads(const struct argus_messages *messages,
                              const struct argus_thread **ret);
size_t argus_messages_processes(const struct argus_messages *messages,
                                const struct argus_process **ret);
/* The sum over all channels. */
const struct argus_message_counts *argus_messages_counts(const struct argus_messages *messages);

/* "pipe", "unix stream", "tcp" … */
const char *argus_channel_name(uint32_t kind);
/* "sent before the trace began" … */
const char *argus_unpaired_name(enum argus_unpaired reason);

#ifdef __cplusplus
}
#endif
#endif
