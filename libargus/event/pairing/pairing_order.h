/* What the files of the order family share: pipes and TCP. */
#ifndef ARGUS_EVENT_PAIRING_ORDER_H
#define ARGUS_EVENT_PAIRING_ORDER_H

#include "event/pairing/pairing.h"

/* Messages whose order is not known from their positions are tried in all orders: at most so many at once. */
#define ORDER_GROUP 5

/* How a place on the axis compares with what a record says. */
enum order_match {
    ORDER_BEFORE, /* the record's position lies further on */
    ORDER_EQUAL,
    ORDER_BEHIND,
    ORDER_UNKNOWN, /* no send is known to reach so far yet */
};

/* The end of a message that begins at a certain place. */
struct order_end {
    uint64_t axis, place;
    bool sure;                   /* it could not have ended elsewhere */
    uint32_t merged, merged_end; /* as in struct part */
};

/* A channel at work. */
struct order {
    struct pairing *pairing;
    uint32_t channel;
    const struct channel_kind *kind;
    struct order_state *state;
};

/* Whether the position of a message may be that of another one, which was made at the same time: positions are read just
 * after the operation. */
static inline bool order_is_doubtful(const struct order_line *line, const struct message *message)
{
    return line->many || (message->flags & ARGUS_MESSAGE_DOUBTFUL);
}

/* --- pairing_pipe.c: positions inside buffers --- */
/* The ends that a write of `bytes` can have, which begins where the line of sends ends at `from`: one or two. */
size_t pipe_ends(const struct order *order, struct order_end from, uint64_t bytes,
                 struct order_end ret[2]);
bool pipe_same_buffer(uint64_t a, uint64_t b);
/* Where a receive that ends at `axis` on the axis is by its position. `settled`: all sends before it are on record. */
enum order_match pipe_compare(const struct order *order, uint64_t axis, uint64_t position,
                              bool settled);
/* The place on the axis that belongs to a receive's position; false: no send is known to reach so far. It is sure where the
 * sends around it are. */
bool pipe_axis(const struct order *order, uint64_t position, uint64_t *ret, bool *ret_sure);

/* --- pairing_line.c: putting messages into their order --- */
/* Gives all messages of a line their place that can have one. `last`: no more will come. */
void order_settle(const struct order *order, enum pairing_side side, bool last);

/* --- pairing_rival.c: positions that may be another's --- */
/* Whether other sends may have written what is at the position of `part`, a send that waits. */
bool order_has_double(const struct order *order, const struct part *part);
/* Whether the position of a waiting send may be that of another one. */
bool order_is_vague(const struct order *order, struct part *part);
/* Whether a send that waits behind `last` may lie before `part`. */
bool order_has_rival(const struct order *order, const struct part *last, struct part *part);

/* --- pairing_order.c --- */
/* The stream has begun anew somewhere else: what was placed has no partner any more. */
void order_forget(const struct order *order);

#endif
