/* Call stacks: taken into a scratch slot, named by a hash of their frames, and stored only when that name is new.
 *
 * The three users never interrupt each other: the scheduler's tracepoints run with interrupts off, and the sample's timer
 * is an interrupt itself. So one scratch slot for each of them and each cpu is enough.
 */
#ifndef ARGUS_BPF_STACK_H
#define ARGUS_BPF_STACK_H

#include "ring.h"
#include "snapshot.h"

#define PF_KTHREAD 0x00200000

/* The tracing's own frames on top of a kernel stack taken in a tracepoint. */
#define STACK_SKIP_TRACING 3

enum stack_user { STACK_USER_SWITCH, STACK_USER_WAKE, STACK_USER_SAMPLE, STACK_USER_COUNT };

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, STACK_USER_COUNT);
    __type(key, uint32_t);
    __type(value, struct bpf_stack);
} scratch SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 65536);
    __type(key, uint64_t);
    __type(value, struct bpf_stack);
} stacks SEC(".maps");

static __always_inline void stack_count_lost(void)
{
    uint32_t cpu;
    struct bpf_cpu *state = this_cpu(&cpu);
    if (state)
        __sync_fetch_and_add(&state->stacks_lost, 1);
}

/* Following frame pointers through code that has none ends in numbers that are no addresses. */
static __always_inline bool is_address(uint64_t frame, uint64_t flags)
{
    return !(flags & BPF_F_USER_STACK) || (frame >= 4096 && frame < 1ull << 56);
}

/* Cuts the stack before the first frame that is no address, and returns the hash of the rest: never 0, which means
 * "no stack". */
static __always_inline uint64_t stack_hash(struct bpf_stack *stack, uint64_t flags)
{
    uint64_t hash = 1;
    uint32_t i = 0;
    for (; i < BPF_STACK_FRAMES && i < stack->count; i++) {
        uint64_t frame = stack->frames[i];
        if (!is_address(frame, flags))
            break;
        hash = (hash ^ frame) * 0x9e3779b97f4a7c15ull;
        hash ^= hash >> 32;
    }
    stack->count = i;
    return hash | 1ull << 63;
}

/* The id of the current stack, kernel's or user's by `flags` (which also say how many frames to skip); 0: none. For a
 * process chosen with --unwind the user's stack is a snapshot (snapshot.h). */
static __always_inline uint64_t stack_take(void *context, enum stack_user user, uint64_t flags)
{
    uint32_t slot = user;
    if (settings.unwind && flags & BPF_F_USER_STACK) {
        uint64_t snapshot = snapshot_take();
        if (snapshot)
            return snapshot;
    }
    struct bpf_stack *stack = bpf_map_lookup_elem(&scratch, &slot);
    if (!stack)
        return 0;
    long bytes = bpf_get_stack(context, stack->frames, sizeof(stack->frames), flags);
    if (bytes <= 0) {
        stack_count_lost();
        return 0;
    }
    stack->count = (uint64_t)bytes / 8;
    uint64_t id = stack_hash(stack, flags);
    if (stack->count == 0)
        return 0;
    if (!bpf_map_lookup_elem(&stacks, &id) && bpf_map_update_elem(&stacks, &id, stack, BPF_ANY) < 0)
        stack_count_lost();
    return id;
}

#endif
