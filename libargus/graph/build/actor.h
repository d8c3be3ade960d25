/* Who is behind something: the thread that did it, or the one that had asked for it. */
#ifndef ARGUS_GRAPH_ACTOR_H
#define ARGUS_GRAPH_ACTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "argus/graph.h"
#include "argus/record.h"
#include "graph/rules.h"

struct builder;
struct cpu_state;

/* Who is behind something that happens: the thread that did it, or the one that had asked for it. */
struct actor {
    uint64_t since_ns;     /* when it did or asked */
    uint32_t thread, slot; /* ARGUS_NONE: nobody is known; the slot of its vertex at that time */
};

/* What made a thread runnable; an edge once its vertex is settled. */
struct cause {
    struct argus_edge edge; /* `from` is a slot; valid if `known` */
    bool known;             /* otherwise there is no edge: culled, or no waker */
    bool by_waker;          /* the thread on the cpu did it, in its own code */
    bool by_timer, by_device;
    /* by a timer that the thread armed in the very system call in which it waits */
    bool self_timed;
    uint8_t said; /* ARGUS_WAKE_*: what Darwin's record says of it */
};

/* In which context the cpu is; `said`: what a record says about it (enum argus_context). */
enum argus_context cpu_context(const struct cpu_state *cpu, uint64_t said);
/* Who is behind what the cpu does now: the thread on it, or, inside an interrupt, who armed the timer that fires,
 * issued the request that is completed, queued the work that is done. */
struct actor actor_now(const struct builder *builder, const struct cpu_state *cpu, uint64_t said);
/* The cause of an edge from `actor`. */
struct cause actor_cause(const struct actor *actor, enum argus_edge_kind kind, enum rule_id rule);

#endif
