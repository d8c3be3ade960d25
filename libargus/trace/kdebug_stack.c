#include "trace/kdebug_stack.h"

#include "base/hash64.h"

/* A slot for a new stack of `key`; NULL without memory. */
static struct kdebug_stack *take_slot(struct kdebug_stacks *stacks, uint64_t key)
{
    uint32_t index = idmap_get(&stacks->by_thread, key);
    if (index != IDMAP_NONE)
        return &stacks->open.data[index];
    index = stacks->spare.length ? stacks->spare.data[--stacks->spare.length]
                                 : (uint32_t)stacks->open.length;
    bool kept = index < stacks->open.length || vec_push(&stacks->open, (struct kdebug_stack){0});
    if (!kept || !idmap_put(&stacks->by_thread, key, index)) {
        stacks->no_memory = true;
        return NULL;
    }
    return &stacks->open.data[index];
}

static void begin(struct kdebug_stacks *stacks, const struct argus_record *record, bool kernel)
{
    /* arg2 is the number of frames without those of an asynchronous caller, arg4 the number of
     * those. */
    uint64_t wanted = record->arg[1] + record->arg[3];
    struct kdebug_stack *stack =
        wanted ? take_slot(stacks, record->tid * 2 + (kernel ? 1 : 0)) : NULL;
    if (!stack)
        return;
    stack->count = 0;
    stack->wanted = wanted > ARGUS_STACK_MAX_FRAMES ? ARGUS_STACK_MAX_FRAMES : (uint32_t)wanted;
    stack->kernel = kernel;
}

static const struct kdebug_stack *go_on(struct kdebug_stacks *stacks,
                                        const struct argus_record *record, bool kernel)
{
    uint64_t key = record->tid * 2 + (kernel ? 1 : 0);
    uint32_t index = idmap_get(&stacks->by_thread, key);
    if (index == IDMAP_NONE)
        return NULL;
    struct kdebug_stack *stack = &stacks->open.data[index];
    for (int i = 0; i < 4 && stack->count < stack->wanted; i++)
        stack->frames[stack->count++] = record->arg[i];
    if (stack->count < stack->wanted)
        return NULL;
    while (stack->count && !stack->frames[stack->count - 1])
        stack->count--;
    stack->id = hash64(kernel, stack->frames, stack->count * sizeof(*stack->frames));
    stack->id += stack->id == 0;
    stack->wanted = 0;
    if (!vec_push(&stacks->spare, index) || !idmap_put(&stacks->by_thread, key, IDMAP_NONE))
        stacks->no_memory = true;
    return stack->count ? stack : NULL;
}

const struct kdebug_stack *kdebug_stacks_feed(struct kdebug_stacks *stacks,
                                              const struct argus_record *record)
{
    switch (ARGUS_DEBUGID_EVENT(record->debugid)) {
    case KDEBUG_ID_USER_STACK:
    case KDEBUG_ID_KERNEL_STACK:
        begin(stacks, record, ARGUS_DEBUGID_EVENT(record->debugid) == KDEBUG_ID_KERNEL_STACK);
        return NULL;
    case KDEBUG_ID_USER_FRAMES:
        return go_on(stacks, record, false);
    case KDEBUG_ID_KERNEL_FRAMES:
        return go_on(stacks, record, true);
    default:
        return NULL;
    }
}

void kdebug_stacks_deinit(struct kdebug_stacks *stacks)
{
    vec_deinit(&stacks->open);
    vec_deinit(&stacks->spare);
    idmap_deinit(&stacks->by_thread);
}
