#include "server/stack_store.h"

#include <string.h>

/* Asking costs three look-ups in the kernel, and a stack that is lost may have many records. */
#define ASK_AGAIN_NS 5000000ull

void stack_store_deinit(struct stack_store *store)
{
    idmap_deinit(&store->index);
    vec_deinit(&store->stacks);
    vec_deinit(&store->frames);
}

static bool is_lost(const struct kept_stack *stack)
{
    return stack->count == 0 && !stack->copied;
}

bool stack_store_use(struct stack_store *store, uint64_t id, uint64_t now_ns)
{
    uint32_t place = idmap_get(&store->index, id);
    if (place == IDMAP_NONE)
        return false;
    struct kept_stack *stack = &store->stacks.data[place];
    stack->used = true;
    return !is_lost(stack) || now_ns < stack->asked_ns + ASK_AGAIN_NS;
}

bool stack_store_lacks(const struct stack_store *store, uint64_t id)
{
    uint32_t place = idmap_get(&store->index, id);
    return place != IDMAP_NONE && is_lost(&store->stacks.data[place]);
}

/* The place of a stack, which may be new; IDMAP_NONE without memory. */
static uint32_t make_place(struct stack_store *store, uint64_t id)
{
    uint32_t place = idmap_get(&store->index, id);
    if (place != IDMAP_NONE)
        return place;
    place = (uint32_t)store->stacks.length;
    if (!vec_reserve(&store->stacks, 1) || !idmap_put(&store->index, id, place))
        return IDMAP_NONE;
    store->stacks.length++;
    return place;
}

bool stack_store_add(struct stack_store *store, uint64_t id, const uint64_t *frames, size_t count,
                     bool copied, uint64_t now_ns)
{
    struct kept_stack stack = {
        .id = id,
        .first = store->frames.length,
        .asked_ns = now_ns,
        .count = (uint32_t)count,
        .copied = copied,
        .used = true,
    };
    size_t kept = store->keeps_frames ? count : 0;
    uint32_t place = vec_reserve(&store->frames, kept) ? make_place(store, id) : IDMAP_NONE;
    if (place == IDMAP_NONE)
        return false;
    if (kept && frames)
        memcpy(store->frames.data + store->frames.length, frames, kept * sizeof(*frames));
    store->frames.length += kept;
    store->stacks.data[place] = stack;
    return true;
}

bool stack_store_renew(struct stack_store *store)
{
    struct stack_store next = {.keeps_frames = store->keeps_frames};
    bool good = true;
    for (size_t i = 0; i < store->stacks.length && good; i++) {
        const struct kept_stack *stack = &store->stacks.data[i];
        if (!stack->used || is_lost(stack))
            continue;
        const uint64_t *frames = store->keeps_frames ? store->frames.data + stack->first : NULL;
        good = stack_store_add(&next, stack->id, frames, stack->count, stack->copied, 0);
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
