/* The actor of an event: the thread that did it, or that had asked the kernel for it. */
#ifndef ARGUS_GRAPH_ACTOR_H
#define ARGUS_GRAPH_ACTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "argus/graph.h"
#include "argus/record.h"
#include "graph/rules.h"

struct builder;
struct cpu_state;

/* The thread that did something, or that had asked the kernel for it. */
struct actor {
    uint64_t since_ns;     /* when the thread acted or asked */
    uint32_t thread, slot; /* ARGUS_NONE: not known; `slot`: the thread's vertex at that time */
};

/* What made a thread runnable. Becomes an edge when the vertex is settled (vertex_settle()). */
struct cause {
    struct argus_edge edge; /* `from` is a slot; valid if `known` */
    bool known;             /* false: no edge, since the wake-up is culled or has no waker */
    bool by_waker;          /* the waker is the thread on the cpu, in its own code */
    bool by_timer, by_device;
    bool by_clock; /* by_device, but the interrupt was none of a device (cpu_state.h) */
    /* woken by a timer that the thread armed in the same system call in which it waits */
    bool self_timed;
    uint8_t wake_flags; /* ARGUS_WAKE_*: what Darwin's record says about the wake-up */
};

/* The context in which the cpu executes; `recorded`: what a record says about it (enum
 * argus_context). */
enum argus_context cpu_context(const struct cpu_state *cpu, uint64_t recorded);
/* The actor of what the cpu does now: the thread on it; inside an interrupt, the thread that armed
 * the firing timer, issued the completed request, or queued the work. */
struct actor actor_now(const struct builder *builder, const struct cpu_state *cpu,
                       uint64_t recorded);
/* The cause of an edge that comes from `actor`. */
struct cause actor_cause(const struct actor *actor, enum argus_edge_kind kind, enum rule_id rule);

#endif
