/* Internals shared by the files of the order family: pipes and TCP. */
#ifndef ARGUS_EVENT_PAIRING_ORDER_H
#define ARGUS_EVENT_PAIRING_ORDER_H

#include "event/pairing/pairing.h"

/* If the order of messages does not follow from their positions, all orders are tried: at most this
 * many messages at once. */
#define ORDER_GROUP 5

/* How a place on the axis compares with a recorded position. */
enum order_match {
    ORDER_BEFORE, /* the recorded position is further */
    ORDER_EQUAL,
    ORDER_BEHIND,
    ORDER_UNKNOWN, /* no send is known to reach so far yet */
};

/* A possible end of a message that begins at a certain place. */
struct order_end {
    uint64_t axis, place;
    bool sure;                   /* it could not have ended elsewhere */
    uint32_t merged, merged_end; /* as in struct part */
};

/* The channel being processed. */
struct order {
    struct pairing *pairing;
    uint32_t channel;
    const struct channel_kind *kind;
    struct order_state *state;
};

/* Whether a message's recorded position may be that of another, simultaneous message: positions are
 * read just after the operation. */
static inline bool order_is_doubtful(const struct order_line *line, const struct message *message)
{
    return line->many || (message->flags & ARGUS_MESSAGE_DOUBTFUL);
}

/* --- pairing_pipe.c: positions inside buffers --- */
/* The possible ends, one or two, of a write of `bytes` that begins where the line of sends ends at
 * `from`. */
size_t pipe_ends(const struct order *order, struct order_end from, uint64_t bytes,
                 struct order_end ret[2]);
bool pipe_same_buffer(uint64_t a, uint64_t b);
/* How the recorded position of a receive that ends at `axis` compares with it. `settled`: all sends
 * before it are recorded. */
enum order_match pipe_compare(const struct order *order, uint64_t axis, uint64_t position,
                              bool settled);
/* The place on the axis of a receive's recorded position; false: no send is known to reach so far.
 * It is certain if the sends around it are. */
bool pipe_axis(const struct order *order, uint64_t position, uint64_t *ret, bool *ret_sure);

/* --- pairing_line.c: putting messages into their order --- */
/* Places all messages of a line that can be placed. `last`: no more messages will come. */
void order_settle(const struct order *order, enum pairing_side side, bool last);

/* --- pairing_rival.c: positions that may be another message's --- */
/* Whether other sends may have written what is at the recorded position of `part`, a waiting
 * send. */
bool order_has_double(const struct order *order, const struct part *part);
/* Whether the recorded position of a waiting send may be that of another send. */
bool order_is_vague(const struct order *order, struct part *part);
/* Whether a send that waits behind `last` may precede `part`. */
bool order_has_rival(const struct order *order, const struct part *last, struct part *part);

/* --- pairing_order.c --- */
/* The stream has restarted elsewhere: messages placed before have no partner any more. */
void order_forget(const struct order *order);

#endif
