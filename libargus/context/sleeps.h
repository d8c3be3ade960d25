/* How long a thread sleeps of its own will, and whether that is longer than in the base. */
#ifndef ARGUS_CONTEXT_SLEEPS_H
#define ARGUS_CONTEXT_SLEEPS_H

#include "context/tree.h"

struct sleep_sum {
    double squares; /* of the single sleeps, in ns * ns */
    uint32_t count;
};

struct sleeps {
    VEC(struct sleep_sum) sums;
    struct idmap by_node;
    bool no_memory; /* sticky */
};

void sleeps_note(struct sleeps *sleeps, uint32_t node, uint64_t slept_ns);
void sleeps_deinit(struct sleeps *sleeps);

/* A node and its sleeps. */
struct sleeper {
    const struct argus_context_node *node;
    const struct sleeps *sleeps;
    uint32_t number; /* of the node */
};

/* The ns that `now` slept longer than `base` leads one to expect; below 0: shorter. `base` without a node: all. */
double sleeps_excess(struct sleeper now, struct sleeper base);

#endif
