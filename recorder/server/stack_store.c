#include "server/stack_store.h"

#include <string.h>

void stack_store_deinit(struct stack_store *store)
{
    idmap_deinit(&store->index);
    vec_deinit(&store->stacks);
    vec_deinit(&store->frames);
}

bool stack_store_use(struct stack_store *store, uint64_t id)
{
    uint32_t place = idmap_get(&store->index, id);
    if (place == IDMAP_NONE)
        return false;
    store->stacks.data[place].used = true;
    return true;
}

bool stack_store_add(struct stack_store *store, uint64_t id, const uint64_t *frames, size_t count,
                     bool copied)
{
    struct kept_stack stack = {
        .id = id,
        .first = store->frames.length,
        .count = (uint32_t)count,
        .copied = copied,
        .used = true,
    };
    size_t kept = store->keeps_frames ? count : 0;
    if (!vec_reserve(&store->frames, kept) || !vec_reserve(&store->stacks, 1) ||
        !idmap_put(&store->index, id, (uint32_t)store->stacks.length))
        return false;
    if (kept && frames)
        memcpy(store->frames.data + store->frames.length, frames, kept * sizeof(*frames));
    store->frames.length += kept;
    store->stacks.data[store->stacks.length++] = stack;
    return true;
}

bool stack_store_renew(struct stack_store *store)
{
    struct stack_store next = {.keeps_frames = store->keeps_frames};
    bool good = true;
    for (size_t i = 0; i < store->stacks.length && good; i++) {
        const struct kept_stack *stack = &store->stacks.data[i];
        if (!stack->used || (!stack->count && !stack->copied))
            continue;
        const uint64_t *frames = store->keeps_frames ? store->frames.data + stack->first : NULL;
        good = stack_store_add(&next, stack->id, frames, stack->count, stack->copied);
        if (good)
            next.stacks.data[next.stacks.length - 1].used = false;
    }
    if (!good) {
        stack_store_deinit(&next);
        return false;
    }
    stack_store_deinit(store);
    *store = next;
    return true;
}
