/* Which stacks a file has, so that each is written once. For a ring file also their frames, so that
 * a stack can be written again before it is overwritten, even if the kernel's table has dropped
 * it. */
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

/* Whether the stack is in the store; if so, marks it as used. */
bool stack_store_use(struct stack_store *store, uint64_t id);
/* Adds a new stack and marks it as used; `count` 0: it is lost, unless it is `copied`. False
 * without memory. */
bool stack_store_add(struct stack_store *store, uint64_t id, const uint64_t *frames, size_t count,
                     bool copied);
/* Drops lost stacks and those not used since the last call; marks the rest as unused. False without
 * memory. */
bool stack_store_renew(struct stack_store *store);

#endif
