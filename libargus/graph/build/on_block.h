/* Block I/O: on_block.c. */
#ifndef ARGUS_GRAPH_ON_BLOCK_H
#define ARGUS_GRAPH_ON_BLOCK_H

#include "graph/build/actor.h"

struct builder;

/* The completion of a request. The request's own state cannot be used, since the request may be
 * issued again as soon as it is completed, also by another cpu. */
struct completion {
    /* issuer of the request, or of the lower device's request that completed this one */
    struct actor issuer;
    uint64_t target, inode, bytes;
    uint64_t position; /* of the record, on its cpu; 0: no completion yet */
};

/* The state of this feature: the known requests. */
struct requests *requests_create(void);
void requests_destroy(struct requests *requests);

/* The current record of `cpu` may come between the completion of a lower device's request and that
 * of the request above it. */
void graph_block_allow_record(struct cpu_state *cpu);
/* Same for a wake-up or a switch to `thread`, if `thread` is the kernel's softirq thread
 * (ksoftirqd). */
void graph_block_defer(const struct builder *builder, struct cpu_state *cpu, uint32_t thread);

#endif
