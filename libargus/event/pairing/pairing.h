/* Pairing: finds for each receive the send that its bytes came from, in one pass over the records.
 *
 * Records come in time order, which differs from the order in the channel: a thread may be delayed
 * between an operation and its record, and a receiver is often faster than the sender of its bytes.
 * So both ends are kept until their partner comes. The order of records never decides about a pair,
 * only what a record tells about the channel itself. The *family* of a kind of channel is the way
 * in which its records tell that (pairing.c has the table):
 *
 *   element (pairing_element.c)  the kernel's buffer, the same at both ends: one table for all
 *                                channels
 *   order (pairing_order.c)      the position in the stream: both ends are intervals on one axis,
 *                                and overlaps are pairs
 *   count (pairing_count.c)      what is left in the object: an axis of units
 *   queue (pairing_queue.c)      only size and priority: first in, first out
 *   group (pairing_queue.c)      nothing: any earlier send may be the partner, so all pairs are
 *                                ambiguous
 *
 * Memory is bounded: at most PAIRING_MOST_PARTS messages wait at a time; further ones count as
 * unpaired. Every search is bounded by a constant, except those that remove the messages that they
 * pass.
 */
#ifndef ARGUS_EVENT_PAIRING_H
#define ARGUS_EVENT_PAIRING_H

#include "argus/messages.h"
#include "base/idmap.h"
#include "base/vec.h"

/* Most messages that wait for their other end, in all channels together. */
#define PAIRING_MOST_PARTS (1u << 21)

enum pairing_side { SIDE_SEND, SIDE_RECEIVE, SIDES };

/* What the caller knows about a thread's current system call. One per thread, cleared when a call
 * begins. */
struct pairing_call {
    uint64_t enter_ns;     /* 0: before the trace */
    uint64_t moved[SIDES]; /* bytes so far, maintained by pairing_feed() */
    /* The thread was last woken by a thread in a call that began at `waker_ns`; 0: by something
     * else. */
    uint64_t woken_ns, waker_ns;
    bool slept;          /* the thread has waited in this call */
    uint64_t resumed_ns; /* when it got a CPU again after it was preempted; 0: never */
    uint64_t message_ns; /* time of its last message, maintained by pairing_feed(); 0: none yet */
    bool preempted;      /* it has no CPU, and does not sleep */
    bool unsure[SIDES];  /* a message's bytes may be another thread's, so `moved` is uncertain */
    bool may_message;    /* set by the caller: this call can send or receive */
};

/* A message's record with its call. */
struct message {
    uint64_t enter_ns, time_ns; /* the message was sent or received between these times */
    uint64_t call_ns;           /* when the system call began */
    uint64_t record_ns;         /* when the record was written */
    uint64_t position;
    uint64_t bytes, call_bytes; /* the message's own; what the call moved before it */
    uint64_t other;
    uint32_t thread, tag; /* set by the caller */
    uint8_t flags;        /* ARGUS_MESSAGE_* */
    bool slept;
    bool late; /* the thread may have lost the CPU between the operation and its record */
    bool call_bytes_unsure;
};

/* Two messages and what they have in common. The messages are valid only during the call of the
 * sink. */
struct pairing_pair {
    const struct message *send, *receive;
    uint64_t send_offset, receive_offset, bytes;
    uint32_t channel;
    bool exact;
};

typedef void (*pairing_sink)(void *context, const struct pairing_pair *pair);

/* Called at the end for each message that was not received completely, of channels with at least
 * one receive. Also called earlier (`gone`), when the buffer of such a message is seen to be used
 * again: the receiver closed its end, or has ended. */
typedef void (*pairing_unread)(void *context, const struct argus_message_channel *channel,
                               const struct message *message, bool gone);

/* A message that waits for its other end, or for its position on the axis. */
struct part {
    struct message message;
    uint64_t start, end; /* on the channel's axis, once its position is known */
    uint64_t place;      /* order: the recorded position, which belongs to `end` */
    uint32_t merged,
        /* pipe: bytes appended to a buffer of another write, and their end in that buffer */
        merged_end;
    uint64_t covered;        /* number of its bytes that have a pair */
    uint32_t next, previous; /* in its list */
    bool certain;            /* its position is proved */
    bool own;                /* pipe: a send that ends where its recorded position says */
    bool filled;             /* pipe: a receive whose bytes are exactly those of such sends */
    bool paired;
    /* Of a send that waits for its position in a pipe. */
    bool shared; /* another send has the same recorded position */
    /* `vague` is valid once `known`: the recorded position may be another send's */
    bool known, vague;
    bool alone; /* no waiting send can precede it */
};

/* A list of parts, by number. An all-zero list is not empty: use part_list_init(). */
struct part_list {
    uint32_t head, tail, count;
};
static const struct part_list part_list_empty = {ARGUS_NONE, ARGUS_NONE, 0};

/* One end of a channel whose messages are ordered. */
struct order_line {
    struct part_list waiting; /* without a position on the axis yet, sorted by recorded position */
    struct part_list open;    /* with a position, but not completely paired */
    /* axis and recorded position of the last message that got a position */
    uint64_t end, place;
    uint32_t thread; /* the first thread that used this end */
    /* several threads used this end: a recorded position may be another thread's */
    bool many;
    bool known;     /* `end` is valid */
    uint32_t rival; /* pipe: a waiting send that may precede others; ARGUS_NONE */
    /* a message that began before this may lie elsewhere than its recorded position says */
    uint64_t unsure_ns;
};

struct order_state {
    struct order_line line[SIDES];
    struct part_list peeks;
    uint64_t reference; /* the last recorded position, unwrapped */
    uint64_t base,
        base_place; /* `end` and `place` of the last send that left line[SIDE_SEND].open */
};

/* The latest messages of a counter, to find those that were made at the same time. */
#define COUNT_RECENT 8
/* Messages that each tell something about the alignment of a counter's two ends. */
#define COUNT_PROBES 4

struct count_state {
    struct part_list open[SIDES];
    uint64_t end[SIDES]; /* units so far */
    struct count_recent {
        uint64_t time_ns, units;
        enum pairing_side side;
    } recent[COUNT_RECENT];
    uint32_t recent_next;
    /* a message that told how many units were left, and the units moved at the same time */
    struct count_probe {
        uint64_t time_ns, left, own;
        uint64_t before[SIDES], during[SIDES]; /* units moved before its call, and during it */
        bool valid;
    } probes[COUNT_PROBES];
    int64_t least, most; /* bounds of the number of units by which the sends may be too far back */
    bool known;          /* the two ends are aligned */
};

struct queue_state {
    struct part_list open[SIDES];
    /* since when no message from before the trace is left; UINT64_MAX: unknown */
    uint64_t clean_ns;
    uint64_t first_ns; /* of the first send, if … */
    /* … this many messages, 0 or 1, were in the queue after it; UINT64_MAX: more, or unknown */
    uint32_t first_left;
};

struct channel {
    struct argus_message_channel seen;
    uint64_t early;  /* receives without a partner before the first send */
    uint64_t losses; /* number of losses in the trace at the last use */
    uint64_t shaky;  /* number of messages after a loss that are still uncertain */
    uint32_t next;   /* next channel with the same hash, or ARGUS_NONE */
    /* element: no message from before the trace or before a loss is left in the queue */
    bool clean;
    union {
        struct order_state order;
        struct count_state count;
        struct queue_state queue;
    };
};

/* The contents of one of the kernel's buffers. */
struct content {
    struct part send;
    uint64_t losses; /* number of losses in the trace when it was sent */
    uint32_t channel;
    bool there;    /* the other members are valid */
    bool doubtful; /* a receive that took some of it may belong to another send */
    bool datagram;
};

/* One of the kernel's buffers. */
struct element {
    struct content now;
    struct content before;     /* its previous contents, if a receive of them may still come */
    struct part_list receives; /* receives that came before their send; `start` is the channel */
    bool overrun;              /* more sends came before their receives than `before` can hold */
};

/* A thread that is running in a system call since `since_ns`. */
struct at_work {
    uint64_t since_ns;
    uint32_t thread, turn; /* outdated if the thread's turn is no longer `turn` */
};

/* The current turn of each thread. */
struct turn {
    uint64_t since_ns;
    uint32_t turn; /* 0: the thread is not running in such a call */
};

struct pairing {
    pairing_sink sink;
    pairing_unread unread; /* may be NULL */
    void *context;
    uint64_t page_bytes; /* of the traced machine: the size of a pipe's buffer */
    VEC(struct part) parts;
    uint32_t free_parts; /* head of the list of unused parts */
    VEC(struct channel) channels;
    struct idmap channel_by_key;
    VEC(struct element) elements;
    struct idmap element_by_address;
    VEC(struct at_work) at_work; /* from `first_at_work` on, in order of their beginnings */
    size_t first_at_work;
    VEC(struct turn) turns; /* by thread */
    uint32_t last_turn;
    uint64_t now_ns;                    /* time of the last message */
    uint64_t settled_ns;                /* see pairing_is_settled() */
    struct argus_message_counts counts; /* of all channels; complete after pairing_finish() */
    uint64_t losses;
    uint64_t fed, walked; /* numbers of messages and of search steps, whose ratio is bounded */
    bool ending;          /* the last record was read */
    bool no_memory;       /* sticky */
};

void pairing_init(struct pairing *pairing, uint32_t page_bytes, pairing_sink sink, void *context);
void pairing_deinit(struct pairing *pairing);

/* Takes one message record of `thread`; `tag` is passed on to the sink. */
void pairing_feed(struct pairing *pairing, const struct argus_record *record,
                  struct pairing_call *call, uint32_t thread, uint32_t tag);

/* `thread` starts or stops running in a system call that can send or receive. works: the call has
 * just begun. runs: the thread got a CPU in the call. rests: the call has ended, or the thread
 * sleeps in it. */
void pairing_thread_works(struct pairing *pairing, uint32_t thread, uint64_t now_ns);
void pairing_thread_runs(struct pairing *pairing, uint32_t thread, uint64_t now_ns);
void pairing_thread_rests(struct pairing *pairing, uint32_t thread);

/* The thread of `call` is woken by a thread in the call `waker`; NULL: by an interrupt, or from
 * outside such a call. */
static inline void pairing_call_woken(struct pairing_call *call, const struct pairing_call *waker,
                                      uint64_t now_ns)
{
    call->woken_ns = now_ns;
    call->waker_ns = waker ? waker->enter_ns : 0;
}

/* The thread of `call` loses its CPU; gets a CPU. */
static inline void pairing_call_leaves(struct pairing_call *call, bool sleeps)
{
    call->slept |= sleeps;
    call->preempted = !sleeps;
    if (sleeps)
        call->resumed_ns = 0;
}

static inline void pairing_call_comes(struct pairing_call *call, uint64_t now_ns)
{
    if (call->preempted)
        call->resumed_ns = now_ns;
    call->preempted = false;
}

/* Records were lost. */
void pairing_lost(struct pairing *pairing);

/* To call after the last record: pairs messages that waited for more, and counts those left
 * over. */
void pairing_finish(struct pairing *pairing);

/* Removes threads that stopped running in their calls, and determines up to when all messages are
 * settled. */
void pairing_find_settled(struct pairing *pairing, uint64_t now_ns);

/* --- for the families --- */

/* Whether everything that happened before or at the same time as `message` is on record: every
 * thread that was running in a call then has stopped since. A message that had to wait in the
 * middle of a long send is an exception. */
static inline bool pairing_is_settled(const struct pairing *pairing, const struct message *message)
{
    return pairing->ending || message->time_ns <= pairing->settled_ns;
}

/* Stores a message; ARGUS_NONE: no memory, or too many messages. */
uint32_t part_take(struct pairing *pairing, const struct message *message);
void part_free(struct pairing *pairing, uint32_t part);
static inline struct part *part_at(struct pairing *pairing, uint32_t part)
{
    return &pairing->parts.data[part];
}
/* Whether a search may take one more step. Bounds the total of unsuccessful searches, which would
 * otherwise be quadratic. */
bool pairing_may_walk(struct pairing *pairing);
void part_append(struct pairing *pairing, struct part_list *list, uint32_t part);
/* Inserts it behind the messages whose calls began before its own. The list must be filled only by
 * this function. Takes as many steps as calls began during its own; where no more steps may be
 * taken, the order is not kept, and later searches find less. */
void part_insert(struct pairing *pairing, struct part_list *list, uint32_t part);
/* Removes and returns the first part of `list`. */
uint32_t part_shift(struct pairing *pairing, struct part_list *list);
/* Removes the part behind `before` (ARGUS_NONE: the first part). */
uint32_t part_unlink(struct pairing *pairing, struct part_list *list, uint32_t before);

/* Reports that `bytes` from these offsets on are the same. */
void pairing_emit(struct pairing *pairing, uint32_t channel, struct part *send,
                  uint64_t send_offset, struct part *receive, uint64_t receive_offset,
                  uint64_t bytes, bool exact);
/* A message is done: its bytes without a pair are counted. */
void pairing_settle(struct pairing *pairing, uint32_t channel, enum pairing_side side,
                    const struct part *part, enum argus_unpaired reason);
/* The same, and the part is freed. */
void pairing_dismiss(struct pairing *pairing, uint32_t channel, enum pairing_side side,
                     uint32_t part, enum argus_unpaired reason);
void pairing_dismiss_all(struct pairing *pairing, uint32_t channel, enum pairing_side side,
                         struct part_list *list, enum argus_unpaired reason);

/* Notes a thread as sender of `channel`, if only its receiver knows the channel. */
void pairing_add_sender(struct pairing *pairing, uint32_t channel, uint32_t thread);

static inline enum pairing_side message_side(const struct message *message)
{
    return message->flags & ARGUS_MESSAGE_RECEIVE ? SIDE_RECEIVE : SIDE_SEND;
}

/* Whether the two messages were in their system calls at the same time, so that their order is
 * unknown. */
static inline bool messages_overlap(const struct message *a, const struct message *b)
{
    return a->thread != b->thread && a->enter_ns < b->time_ns && b->enter_ns < a->time_ns;
}

/* A family: how it handles a message, and the remaining messages at the end or when records were
 * lost. */
struct pairing_family {
    void (*init)(struct channel *channel);
    void (*feed)(struct pairing *pairing, uint32_t channel, const struct message *message);
    void (*lost)(struct pairing *pairing, uint32_t channel);
    void (*finish)(struct pairing *pairing, uint32_t channel);
};

extern const struct pairing_family pairing_element, pairing_order, pairing_count, pairing_queue,
    pairing_group;

/* A row of the table of kinds. */
struct channel_kind {
    const char *name;
    const struct pairing_family *family; /* NULL: this kind cannot be paired */
    /* for messages without a recorded position; NULL: they cannot be paired */
    const struct pairing_family *fallback;
    bool datagram; /* a receive takes one message, complete or truncated */
    /* the thread that wakes a sleeping thread may take its message or give it one */
    bool hands_over;
    bool fragile; /* a missing record makes the following messages doubtful */
    /* a sender that lost the CPU between operation and record may name another send's buffer */
    bool rivals;
    bool late_receive; /* element: the receive's record comes after the buffer was freed */
    uint8_t wrap_bits; /* order: recorded positions are modulo 2^wrap_bits */
    bool buffers;      /* order: recorded positions are in buffers of a page each (pipe) */
    /* order: a record of at most this many bytes is contiguous even if the sender had to wait */
    uint32_t whole_bytes;
};

/* Never NULL. */
const struct channel_kind *channel_kind_of(uint32_t kind);

#endif
