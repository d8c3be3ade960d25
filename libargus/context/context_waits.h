/* The waits inside a context, according to the graph: which thread ended them, and which process
 * they are charged to. */
#ifndef ARGUS_CONTEXT_CONTEXT_WAITS_H
#define ARGUS_CONTEXT_CONTEXT_WAITS_H

#include "context/sleeps.h"
#include "context/wait_pieces.h"

struct waits {
    const struct argus_graph *graph;      /* borrowed */
    const bool *chosen;                   /* by process; borrowed */
    const uint8_t *scope;                 /* by process: enum scope_part; borrowed; NULL: none */
    VEC(struct argus_context_wait) table; /* one element for each pair of node and process */
    struct idmap by_node;                 /* node << 32 | process → table */
    struct sleeps sleeps[ARGUS_ESTIMATES];
    struct idmap seen_lives[ARGUS_ESTIMATES]; /* node << 32 | thread: its life is in `sleeps` */
    struct idmap led_lives; /* by thread: 1, or 2 if other threads ended its life (led_lives.h) */
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

/* What has to be known of a thread while its periods are noted; zeros at first. */
struct waits_thread {
    uint32_t cursor; /* its vertices before this one are done */
    struct wait_pieces pieces;
};

/* Notes such a period. All of it becomes waited_ns of `place`. A thread's periods must come in time
 * order. */
void waits_note(struct waits *waits, struct tree *tree, struct waits_place place,
                const struct waits_stretch *stretch, struct waits_thread *thread);
/* Sorts the tables: by node, the longest wait first. Returns the first error since the beginning.
 */
struct argus_error *waits_finish(struct waits *waits);
void waits_deinit(struct waits *waits);

#endif
