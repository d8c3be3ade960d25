/* Pairing: finds for each receive the send that its bytes came from, in one pass over the records.
 *
 * Records of both ends come in the order of their times, which is not the order of the channel: a thread may be held up
 * between doing something and saying so, and a receiver is often faster than the sender that it got its bytes from. So
 * both ends are kept until their partner comes, and what decides is never the order of records, but what a record
 * says about the channel itself. How it says it makes the *family* of a kind (pairing.c has the table):
 *
 *   element (pairing_element.c)  the kernel's buffer, the same at both ends: one table for all channels
 *   order (pairing_order.c)      the place in the stream: both ends are intervals on one axis, and overlaps are pairs
 *   count (pairing_count.c)      what is left in the object: an axis of units
 *   queue (pairing_queue.c)      nothing but size and priority: first in, first out
 *   group (pairing_queue.c)      nothing at all: whatever was sent before may be meant, so all pairs are ambiguous
 *
 * Memory is bounded: at most PAIRING_MOST_PARTS messages wait at a time, and what comes on top is counted as unpaired.
 * No search is longer than a constant, but for those that use up what they pass.
 */
#ifndef ARGUS_EVENT_PAIRING_H
#define ARGUS_EVENT_PAIRING_H

#include "argus/messages.h"
#include "base/idmap.h"
#include "base/vec.h"

/* Messages that wait for their other end, in all channels. */
#define PAIRING_MOST_PARTS (1u << 21)

enum pairing_side { SIDE_SEND, SIDE_RECEIVE, SIDES };

/* What the caller knows of the system call in progress of a thread; one for each thread, cleared when a call begins. */
struct pairing_call {
    uint64_t enter_ns;     /* 0: before the trace */
    uint64_t moved[SIDES]; /* bytes so far, kept by pairing_feed() */
    /* Its last wake-up, by a thread in a call that began at `waker_ns`; 0: by anything else. */
    uint64_t woken_ns, waker_ns;
    bool slept;          /* it has waited in this call */
    uint64_t resumed_ns; /* when it got back the cpu that it had lost without sleeping; 0: never */
    uint64_t message_ns; /* its last message, kept by pairing_feed(); 0: none yet */
    bool preempted;      /* it has no cpu, and does not sleep */
    bool unsure[SIDES];  /* a message's bytes may be another's, so `moved` is not known */
    bool may_message;    /* the caller's: it is a call that can send or receive */
};

/* A message record and its call. */
struct message {
    uint64_t enter_ns, time_ns; /* it happened between them */
    uint64_t call_ns;           /* when its call began */
    uint64_t record_ns;         /* when it was on record */
    uint64_t position;
    uint64_t bytes, call_bytes; /* its own; those that the call moved before */
    uint64_t other;
    uint32_t thread, tag; /* the caller's */
    uint8_t flags;        /* ARGUS_MESSAGE_* */
    bool slept;
    bool late; /* the thread may have lost the cpu between doing it and saying so */
    bool call_bytes_unsure;
};

/* Two messages and what they have in common; the messages are valid only in the call of the sink. */
struct pairing_pair {
    const struct message *send, *receive;
    uint64_t send_offset, receive_offset, bytes;
    uint32_t channel;
    bool exact;
};

typedef void (*pairing_sink)(void *context, const struct pairing_pair *pair);

/* At the end: a message whose end has been received by nobody, of a channel from which somebody did receive. */
typedef void (*pairing_unread)(void *context, const struct argus_message_channel *channel,
                               const struct message *message);

/* A message that waits for its other end, or for its place. */
struct part {
    struct message message;
    uint64_t start, end; /* on the channel's axis, once it has its place */
    uint64_t place;      /* order: the position that belongs to `end` */
    uint32_t merged,
        merged_end;   /* pipe: bytes put behind another write's, and their end in that buffer */
    uint64_t covered; /* bytes of it that have a pair */
    uint32_t next, previous; /* in its list */
    bool certain;            /* its place is proved */
    bool own;                /* pipe: a send that ends where its own position says */
    bool filled;             /* pipe: a receive of just the bytes of such sends */
    bool paired;
    /* Of a send that waits for its place in a pipe. */
    bool shared;       /* another one has the same position */
    bool known, vague; /* once `known`: the position may be another's */
    bool alone;        /* nothing that waits can lie before it */
};

/* Parts in a row, by number; zeroed is not empty: part_list_init. */
struct part_list {
    uint32_t head, tail, count;
};
static const struct part_list part_list_empty = {ARGUS_NONE, ARGUS_NONE, 0};

/* One end of a channel whose messages have an order. */
struct order_line {
    struct part_list waiting; /* without a place yet, by position */
    struct part_list open;    /* with a place, not all of it paired */
    uint64_t end, place;      /* axis and position of the last that got a place */
    uint32_t thread;          /* the first one at work on it */
    bool many;                /* there are others: a position may be another's */
    bool known;               /* `end` is */
    uint32_t rival;           /* pipe: a waiting send that may lie before others; ARGUS_NONE */
    uint64_t unsure_ns;       /* what began before may lie elsewhere than its position proves */
};

struct order_state {
    struct order_line line[SIDES];
    struct part_list peeks;
    uint64_t reference; /* the last position, unwrapped */
    uint64_t base,
        base_place; /* end and position of the last send that left line[SIDE_SEND].open */
};

/* The last messages of a counter, to find those that were made at the same time. */
#define COUNT_RECENT 8
/* Messages of which each tells something about the alignment of a counter's two ends. */
#define COUNT_PROBES 4

struct count_state {
    struct part_list open[SIDES];
    uint64_t end[SIDES]; /* units so far */
    struct count_recent {
        uint64_t time_ns, units;
        enum pairing_side side;
    } recent[COUNT_RECENT];
    uint32_t recent_next;
    struct count_probe { /* a message that told what was left, and what was done at the same time */
        uint64_t time_ns, left, own;
        uint64_t before[SIDES], beside[SIDES]; /* units moved before its call, and during it */
        bool valid;
    } probes[COUNT_PROBES];
    int64_t least, most; /* units by which the sends may be too far back */
    bool known;          /* the two ends are aligned */
};

struct queue_state {
    struct part_list open[SIDES];
    uint64_t clean_ns; /* since when nothing of before the trace is left; UINT64_MAX: not known */
    uint64_t first_ns; /* of the first send, if … */
    uint32_t
        first_left; /* … so many, 0 or 1, were in the queue after it; UINT64_MAX: there were more, or who knows */
};

struct channel {
    struct argus_message_channel seen;
    uint64_t early;  /* receives without a partner while no send had been seen */
    uint64_t losses; /* of the trace, when it was last used */
    uint64_t shaky;  /* messages that come soon after a loss still to come */
    uint32_t next;   /* channel with the same hash, or ARGUS_NONE */
    bool
        clean; /* element: nothing of before the trace, or of before a loss, is left in the queue */
    union {
        struct order_state order;
        struct count_state count;
        struct queue_state queue;
    };
};

/* What is in a buffer of the kernel. */
struct content {
    struct part send;
    uint64_t losses; /* of the trace, when it was sent */
    uint32_t channel;
    bool there;    /* otherwise the rest is not valid */
    bool doubtful; /* what has been taken out of it may have been another's */
    bool datagram;
};

/* A buffer of the kernel. */
struct element {
    struct content now;
    struct content before;     /* what was in it before, if its receive may still come */
    struct part_list receives; /* that came before their send; `start` is the channel */
    bool overrun;              /* more sends than `before` can hold came before their receives */
};

/* A thread that is at work in a system call since `since_ns`. */
struct at_work {
    uint64_t since_ns;
    uint32_t thread, turn; /* over when it is not the thread's turn any more */
};

/* The same by thread. */
struct turn {
    uint64_t since_ns;
    uint32_t turn; /* 0: it is not at work */
};

struct pairing {
    pairing_sink sink;
    pairing_unread unread; /* may be NULL */
    void *context;
    uint64_t page_bytes; /* of the traced machine: a pipe's buffer */
    VEC(struct part) parts;
    uint32_t free_parts; /* head of those not in use */
    VEC(struct channel) channels;
    struct idmap channel_by_key;
    VEC(struct element) elements;
    struct idmap element_by_address;
    VEC(struct at_work) at_work; /* from `first_at_work` on, in the order in which they began */
    size_t first_at_work;
    VEC(struct turn) turns; /* of each thread */
    uint32_t last_turn;
    uint64_t now_ns;                    /* of the last message */
    uint64_t settled_ns;                /* see pairing_is_settled() */
    struct argus_message_counts counts; /* of all channels; complete after pairing_finish() */
    uint64_t losses;
    uint64_t fed,
        walked;     /* messages, and steps of searches that may be long: their ratio is bounded */
    bool ending;    /* the last record has come */
    bool no_memory; /* sticky */
};

void pairing_init(struct pairing *pairing, uint32_t page_bytes, pairing_sink sink, void *context);
void pairing_deinit(struct pairing *pairing);

/* One message record of `thread`; `tag` is handed on to the sink. */
void pairing_feed(struct pairing *pairing, const struct argus_record *record,
                  struct pairing_call *call, uint32_t thread, uint32_t tag);

/* `thread` is at work in a system call in which it may send or receive: it has just begun the call (works), or has come on a
 * cpu in it (runs); or not any more: the call has ended, or it sleeps in it (rests). */
void pairing_thread_works(struct pairing *pairing, uint32_t thread, uint64_t now_ns);
void pairing_thread_runs(struct pairing *pairing, uint32_t thread, uint64_t now_ns);
void pairing_thread_rests(struct pairing *pairing, uint32_t thread);

/* The thread of `call` is woken by a thread in the call `waker`; NULL: by an interrupt, or outside of such a call. */
static inline void pairing_call_woken(struct pairing_call *call, const struct pairing_call *waker,
                                      uint64_t now_ns)
{
    call->woken_ns = now_ns;
    call->waker_ns = waker ? waker->enter_ns : 0;
}

/* The thread of `call` leaves its cpu; it comes on one. */
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

/* After the last record: pairs what waited for more, and counts what is left over. */
void pairing_finish(struct pairing *pairing);

/* Forgets who is not at work any more, and finds out up to when all is settled. */
void pairing_find_settled(struct pairing *pairing, uint64_t now_ns);

/* --- for the families --- */

/* Whether everything that happened before or at the same time as `message` is on record: no thread has been at work since
 * before its record. What had to wait in the middle of a long send is the exception. */
static inline bool pairing_is_settled(const struct pairing *pairing, const struct message *message)
{
    return pairing->ending || message->time_ns <= pairing->settled_ns;
}

/* Keeps a message; ARGUS_NONE: no memory, or too many. */
uint32_t part_take(struct pairing *pairing, const struct message *message);
void part_free(struct pairing *pairing, uint32_t part);
static inline struct part *part_at(struct pairing *pairing, uint32_t part)
{
    return &pairing->parts.data[part];
}
/* Whether a search may go one step further: those that find nothing must not add up to a square. */
bool pairing_may_walk(struct pairing *pairing);
void part_append(struct pairing *pairing, struct part_list *list, uint32_t part);
/* Puts it behind those whose calls began before its own, in a list that is filled by nothing else. As many steps as calls
 * began during its own. */
void part_insert(struct pairing *pairing, struct part_list *list, uint32_t part);
/* The first of `list`, taken out of it. */
uint32_t part_shift(struct pairing *pairing, struct part_list *list);
/* Takes out the one behind `before` (ARGUS_NONE: the first). */
uint32_t part_unlink(struct pairing *pairing, struct part_list *list, uint32_t before);

/* `bytes` from these offsets on are the same. */
void pairing_emit(struct pairing *pairing, uint32_t channel, struct part *send,
                  uint64_t send_offset, struct part *receive, uint64_t receive_offset,
                  uint64_t bytes, bool exact);
/* A message goes: what of it has no pair is counted. */
void pairing_settle(struct pairing *pairing, uint32_t channel, enum pairing_side side,
                    const struct part *part, enum argus_unpaired reason);
/* The same, and the part is freed. */
void pairing_dismiss(struct pairing *pairing, uint32_t channel, enum pairing_side side,
                     uint32_t part, enum argus_unpaired reason);
void pairing_dismiss_all(struct pairing *pairing, uint32_t channel, enum pairing_side side,
                         struct part_list *list, enum argus_unpaired reason);

/* Notes a thread as sender of `channel`, where only its receiver knows which channel it is. */
void pairing_add_sender(struct pairing *pairing, uint32_t channel, uint32_t thread);

static inline enum pairing_side message_side(const struct message *message)
{
    return message->flags & ARGUS_MESSAGE_RECEIVE ? SIDE_RECEIVE : SIDE_SEND;
}

/* Whether the two were in their system calls at the same time, so that nobody knows who was first. */
static inline bool messages_overlap(const struct message *a, const struct message *b)
{
    return a->thread != b->thread && a->enter_ns < b->time_ns && b->enter_ns < a->time_ns;
}

/* One family: what it does with a message, and at the end (or when records were lost) with those that are left. */
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
    const struct pairing_family *family; /* NULL: cannot be paired */
    const struct pairing_family
        *fallback; /* for messages without a position; NULL: cannot be paired */
    bool datagram; /* a receive takes one message, whole or cut */
    bool
        hands_over; /* a sleeping thread can have its message taken, or given, by the one that wakes it */
    bool fragile;      /* what is missing in the records makes what follows doubtful */
    bool rivals;       /* a sender that lost the cpu on the way may name another's buffer */
    bool late_receive; /* element: the receive is on record after the buffer was given up */
    uint8_t wrap_bits; /* order: positions are modulo 2^wrap_bits */
    bool buffers;      /* order: positions are of buffers of a page each (pipe) */
    uint32_t
        whole_bytes; /* order: a record of so many bytes is of one piece even if the sender had to wait */
};

/* Never NULL. */
const struct channel_kind *channel_kind_of(uint32_t kind);

#endif
