/* How long a thread sleeps deliberately, and whether that is longer than in the base. */
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

/* The time in ns by which `now` slept longer than expected from `base`; negative: shorter. If
 * `base` lacks the node, all of its sleep. */
double sleeps_excess(struct sleeper now, struct sleeper base);

#endif
