/* The waits inside a context, according to the graph: which thread ended them, and which process
 * they are charged to. */
#ifndef ARGUS_CONTEXT_CONTEXT_WAITS_H
#define ARGUS_CONTEXT_CONTEXT_WAITS_H

#include "context/sleeps.h"

struct waits {
    const struct argus_graph *graph;      /* borrowed */
    const bool *chosen;                   /* by process; borrowed */
    VEC(struct argus_context_wait) table; /* one element for each pair of node and process */
    struct idmap by_node;                 /* node << 32 | process → table */
    struct sleeps sleeps[ARGUS_ESTIMATES];
    VEC(struct argus_context_waker) wakers;
    struct idmap by_waker;     /* node << 32 | waker's node → wakers */
    struct argus_error *error; /* owned; the first error of the accounting */
    bool no_memory;            /* sticky */
};

/* A period from `from_ns` to `to_ns` in which a thread had no CPU; from `woken_ns` on it was
 * runnable. */
struct waits_stretch {
    uint64_t from_ns, woken_ns, to_ns;
    uint32_t waker; /* node of the thread that woke it; ARGUS_NONE: unknown */
    bool preempted; /* it did not wait for anything but a CPU */
};

/* The nodes that the inference gives the time of a period to. */
struct waits_place {
    uint32_t node[ARGUS_ESTIMATES];
};

/* Notes such a period of `thread`. All of it becomes waited_ns of `place`. `*cursor` is 0 at first
 * and belongs to the thread. A thread's periods must come in time order. */
void waits_note(struct waits *waits, struct tree *tree, uint32_t thread, struct waits_place place,
                const struct waits_stretch *stretch, uint32_t *cursor);
/* Sorts the tables: by node, the longest wait first. Returns the first error since the beginning. */
struct argus_error *waits_finish(struct waits *waits);
void waits_deinit(struct waits *waits);

#endif
