/* What the graph knows of the waits inside a context: who ended them, and for whom they were in the end. */
#ifndef ARGUS_CONTEXT_CONTEXT_WAITS_H
#define ARGUS_CONTEXT_CONTEXT_WAITS_H

#include "context/sleeps.h"

struct waits {
    const struct argus_graph *graph;      /* borrowed */
    const bool *chosen;                   /* by process; borrowed */
    VEC(struct argus_context_wait) table; /* one for each node and process */
    struct idmap by_node;                 /* node << 32 | process → table */
    struct sleeps sleeps;
    struct argus_error *error; /* owned; of accounting; sticky */
    bool no_memory;            /* sticky */
};

/* A thread had no cpu from `from_ns` to `to_ns`; from `woken_ns` on it wanted one. */
struct waits_stretch {
    uint64_t from_ns, woken_ns, to_ns;
};

/* `thread` waited so with the stack of `node`. `*cursor` is 0 at first, and the thread's; its stretches come in time order. */
void waits_note(struct waits *waits, struct tree *tree, uint32_t thread, uint32_t node,
                const struct waits_stretch *stretch, uint32_t *cursor);
/* Sorts the table: by node, the longest first. Returns what went wrong in between. */
struct argus_error *waits_finish(struct waits *waits);
void waits_deinit(struct waits *waits);

#endif
