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
    size_t first;      /* of its frames */
    uint64_t asked_ns; /* when it was last asked for; matters if it is lost */
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

/* Whether the stack is in the store; if so, marks it as used. Not if it is lost and was not asked
 * for lately: a program whose stack was overwritten copies it again when it waits again. */
bool stack_store_use(struct stack_store *store, uint64_t id, uint64_t now_ns);
/* Whether the stack was asked for and is lost. */
bool stack_store_lacks(const struct stack_store *store, uint64_t id);
/* Adds a stack that is new or was lost, and marks it as used; `count` 0: it is lost, unless it is
 * `copied`. False without memory. */
bool stack_store_add(struct stack_store *store, uint64_t id, const uint64_t *frames, size_t count,
                     bool copied, uint64_t now_ns);
/* Drops lost stacks and those not used since the last call; marks the rest as unused. False without
 * memory. */
bool stack_store_renew(struct stack_store *store);

#endif
