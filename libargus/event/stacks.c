#include "event/stacks.h"

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
    struct argus_stack stack = {.frames = frames, .count = (uint32_t)count};
    index = (uint32_t)stacks->stacks.length;
    if (!vec_push(&stacks->stacks, stack) || !idmap_put(&stacks->by_id, id, index)) {
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

void stacks_deinit(struct stacks *stacks)
{
    vec_deinit(&stacks->stacks);
    idmap_deinit(&stacks->by_id);
}
