/* The stacks of a trace that are used, numbered from 0: maps the file's 64-bit IDs to 32-bit
 * indices. Several IDs with the same frames (snapshots of one place) have one index. */
#ifndef ARGUS_EVENT_STACKS_H
#define ARGUS_EVENT_STACKS_H

#include "argus/event.h"
#include "base/idmap.h"
#include "base/vec.h"

struct stacks {
    const struct argus_trace *trace; /* borrowed; owns the frames, except those in `own` */
    VEC(struct argus_stack) stacks;
    struct idmap by_id;
    struct idmap by_hash; /* hash of the frames → the first stack with it */
    VEC(uint64_t *) own;  /* owned: frames of stacks that were cut off */
    bool no_memory;       /* sticky */
};

/* The index of stack `id`; ARGUS_NONE for 0, and for a stack that is not in the file. */
uint32_t stacks_use(struct stacks *stacks, uint64_t id);

/* An empty stack for ARGUS_NONE. */
struct argus_stack stacks_get(const struct stacks *stacks, uint32_t index);

/* Cuts stack `index` off after its first `count` frames and appends the reason; false without
 * memory. */
bool stacks_cut(struct stacks *stacks, uint32_t index, uint32_t count, enum argus_frame_end why);

void stacks_deinit(struct stacks *stacks);

#endif
