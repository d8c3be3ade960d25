/* Data flags, for flag.c and flag_turns.c. */
#ifndef ARGUS_GRAPH_RULES_FLAG_STATE_H
#define ARGUS_GRAPH_RULES_FLAG_STATE_H

#include "graph/build/actor.h"
#include "graph/rules/queue_order.h"

struct builder;

/* A write to a data flag, or a read whose write has not been seen yet. */
struct flag_access {
    struct actor by;
    uint64_t value, sequence; /* 0: not known */
    uint32_t number;          /* of the write, among all of the flag, from 1 on; 0: there is none */
};

/* A data flag; found by process and address. */
#define FLAG_REMEMBERED 4
struct flag_state {
    uint64_t address;
    uint32_t process;
    uint32_t writes;
    /* the last ones; number n is at n % FLAG_REMEMBERED */
    struct flag_access written[FLAG_REMEMBERED];
    struct flag_access unmatched; /* the last read that no write fits yet; slot ARGUS_NONE: none */
    uint32_t bytes;
    uint32_t semantics;           /* enum argus_flag_semantics */
    uint64_t value;               /* as it was written last, or when the watch began */
    struct queued_callback queue; /* writes that wait for their counterpart (rules/flag_turns.c) */
};

/* The state of this feature: the flags, and which write each thread has seen. */
struct flags *flags_create(void);
void flags_destroy(struct flags *flags);

/* rules/flag.c: an edge to the access `to` of a flag. */
void rule_flag_edge(struct builder *builder, const struct flag_state *flag,
                    const struct actor *from, const struct flag_access *to, enum rule_id rule);
/* rules/flag_turns.c: `write` of a flag whose writes come in pairs; flag->value is the one before. */
void rule_flag_turn(struct builder *builder, struct flag_state *flag,
                    const struct flag_access *write);

#endif
