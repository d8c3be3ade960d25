/* Block I/O: on_block.c. */
#ifndef ARGUS_GRAPH_ON_BLOCK_H
#define ARGUS_GRAPH_ON_BLOCK_H

#include "graph/build/actor.h"

struct builder;

/* The completion of a request. The request itself may be issued anew as soon as it is completed, also by another cpu. */
struct completion {
    /* of the request, or of that of a lower device by which it was completed */
    struct actor issuer;
    uint64_t target, inode, bytes;
    uint64_t position; /* of the record, on its cpu; 0: there was none yet */
};

/* The requests that are known; the state of this feature. */
struct requests *requests_create(void);
void requests_destroy(struct requests *requests);

/* The record of `cpu` may stand between the completion of a request and that of the one on top of it. */
void graph_block_passes(struct cpu_state *cpu);
/* The same for one by which `thread` is woken or comes on the cpu, if it is the kernel's thread for softirqs. */
void graph_block_put_off(const struct builder *builder, struct cpu_state *cpu, uint32_t thread);

#endif
