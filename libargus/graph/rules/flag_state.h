/* The state of data flags, for flag.c and flag_turns.c. */
#ifndef ARGUS_GRAPH_RULES_FLAG_STATE_H
#define ARGUS_GRAPH_RULES_FLAG_STATE_H

#include "graph/build/actor.h"
#include "graph/rules/queue_order.h"

struct builder;

/* A write to a data flag, or a read whose write has not been seen yet. */
struct flag_access {
    struct actor by;
    uint64_t value, sequence; /* 0: not known */
    uint32_t number;  /* of the write, among all writes to the flag, from 1; 0: no such write */
    uint32_t watch;   /* index of the flag as this process has it; a sequence is of one watch */
    uint64_t address; /* in this process */
};

/* A data flag; found by process and address. In memory that processes share, the state of the flag
 * that was known first is the one of all. */
#define FLAG_REMEMBERED 4
struct flag_state {
    uint64_t address;
    uint32_t process;
    uint32_t one; /* index of the state that is used; mostly its own */
    uint32_t writes;
    /* the latest writes; number n is at index n % FLAG_REMEMBERED */
    struct flag_access written[FLAG_REMEMBERED];
    /* the latest read that no write matches yet; slot ARGUS_NONE: none */
    struct flag_access unmatched;
    uint32_t bytes;
    uint32_t semantics; /* enum argus_flag_semantics */
    uint64_t value;     /* of the latest write, or from when the watch began */
    /* writes that wait for their counterpart (rules/flag_turns.c) */
    struct queued_callback queue;
};

/* The state of this feature: the flags, and the latest write that each thread has seen. */
struct flags *flags_create(void);
void flags_destroy(struct flags *flags);

/* rules/flag.c: adds an edge to the access `to` of a flag. */
void rule_flag_edge(struct builder *builder, const struct actor *from, const struct flag_access *to,
                    enum rule_id rule);
/* rules/flag_turns.c: handles `write` to a flag whose writes come in pairs; flag->value is still
 * the previous value. */
void rule_flag_turn(struct builder *builder, struct flag_state *flag,
                    const struct flag_access *write);

#endif
