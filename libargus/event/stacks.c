#include "event/stacks.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_frames(const uint64_t *frames, size_t count)
{
    uint64_t hash = count;
    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ frames[i]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
    }
    return hash;
}

/* The stack with the same frames; IDMAP_NONE: none, or another stack with the same hash came
 * first. */
static uint32_t find_same(const struct stacks *stacks, uint64_t hash, const uint64_t *frames,
                          size_t count)
{
    uint32_t index = idmap_get(&stacks->by_hash, hash);
    if (index == IDMAP_NONE)
        return IDMAP_NONE;
    const struct argus_stack *stack = &stacks->stacks.data[index];
    bool same = stack->count == count && !memcmp(stack->frames, frames, count * sizeof(*frames));
    return same ? index : IDMAP_NONE;
}

static bool add(struct stacks *stacks, uint64_t hash, const uint64_t *frames, size_t count)
{
    struct argus_stack stack = {.frames = frames, .count = (uint32_t)count};
    uint32_t index = (uint32_t)stacks->stacks.length;
    bool first = idmap_get(&stacks->by_hash, hash) == IDMAP_NONE;
    return vec_push(&stacks->stacks, stack) && (!first || idmap_put(&stacks->by_hash, hash, index));
}

uint32_t stacks_use(struct stacks *stacks, uint64_t id)
{
    if (!id)
        return ARGUS_NONE;
    uint32_t index = idmap_get(&stacks->by_id, id);
    if (index != IDMAP_NONE)
        return index;
    const uint64_t *frames;
    size_t count = argus_trace_stack(stacks->trace, id, &frames);
    if (!count)
        return ARGUS_NONE;
    uint64_t hash = hash_frames(frames, count);
    index = find_same(stacks, hash, frames, count);
    bool kept = true;
    if (index == IDMAP_NONE) {
        index = (uint32_t)stacks->stacks.length;
        kept = add(stacks, hash, frames, count);
    }
    if (!kept || !idmap_put(&stacks->by_id, id, index)) {
        stacks->no_memory = true;
        return ARGUS_NONE;
    }
    return index;
}

struct argus_stack stacks_get(const struct stacks *stacks, uint32_t index)
{
    if (index >= stacks->stacks.length)
        return (struct argus_stack){0};
    return stacks->stacks.data[index];
}

bool stacks_cut(struct stacks *stacks, uint32_t index, uint32_t count, enum argus_frame_end why)
{
    struct argus_stack *stack = &stacks->stacks.data[index];
    uint64_t *frames = malloc(((size_t)count + 1) * sizeof(*frames));
    if (!frames || !vec_push(&stacks->own, frames)) {
        free(frames);
        return false;
    }
    memcpy(frames, stack->frames, count * sizeof(*frames));
    frames[count] = why;
    *stack = (struct argus_stack){.frames = frames, .count = count + 1};
    return true;
}

void stacks_deinit(struct stacks *stacks)
{
    for (size_t i = 0; i < stacks->own.length; i++)
        free(stacks->own.data[i]);
    vec_deinit(&stacks->own);
    vec_deinit(&stacks->stacks);
    idmap_deinit(&stacks->by_id);
    idmap_deinit(&stacks->by_hash);
}
