/* Which stacks a file has, so that each is written once; and for a ring file their frames, so that it can be written again
 * before it is overwritten, also when the kernel's table has forgotten it. */
#ifndef ARGUS_RECORDER_STACK_STORE_H
#define ARGUS_RECORDER_STACK_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/idmap.h"
#include "base/vec.h"

struct kept_stack {
    uint64_t id;
    size_t first; /* of its frames */
    uint32_t count;
    bool copied; /* a snapshot, without frames */
    bool used;   /* since the last stack_store_renew() */
};

/* A zeroed struct is an empty store that keeps no frames. */
struct stack_store {
    struct idmap index; /* id → place in `stacks` */
    VEC(struct kept_stack) stacks;
    VEC(uint64_t) frames;
    bool keeps_frames;
};

void stack_store_deinit(struct stack_store *store);

/* Is it there? Then it counts as used. */
bool stack_store_use(struct stack_store *store, uint64_t id);
/* Adds a stack that is not there, as used; `count` 0: it is lost, unless it is `copied`. False without memory. */
bool stack_store_add(struct stack_store *store, uint64_t id, const uint64_t *frames, size_t count,
                     bool copied);
/* Drops what was not used since the last call, and what is lost; the rest counts as not used. False without memory. */
bool stack_store_renew(struct stack_store *store);

#endif
