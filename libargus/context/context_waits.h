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
    struct sleeps sleeps;
    struct argus_error *error; /* owned; the first error of the accounting */
    bool no_memory;            /* sticky */
};

/* A period from `from_ns` to `to_ns` in which a thread had no CPU; from `woken_ns` on it was
 * runnable. */
struct waits_stretch {
    uint64_t from_ns, woken_ns, to_ns;
};

/* Notes such a period of `thread` with the stack of `node`. `*cursor` is 0 at first and belongs to
 * the thread. A thread's periods must come in time order. */
void waits_note(struct waits *waits, struct tree *tree, uint32_t thread, uint32_t node,
                const struct waits_stretch *stretch, uint32_t *cursor);
/* Sorts the table: by node, the longest wait first. Returns the first error since the beginning. */
struct argus_error *waits_finish(struct waits *waits);
void waits_deinit(struct waits *waits);

#endif
