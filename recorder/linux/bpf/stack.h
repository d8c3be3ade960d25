/* Call stacks: taken into a scratch slot, named by a hash of their frames, and stored only when
 * that name is new. The kernel's own helper, bpf_get_stack(), is the slowest operation of the
 * programs here; user_stack.h and kernel_stack.h explain how it is avoided most of the time.
 *
 * A user of a slot never interrupts itself: the scheduler's tracepoints run with interrupts off,
 * the sample's timer is an interrupt itself, and a flag is reported in an exception of its thread.
 * So one scratch slot for each of them and each cpu is enough.
 */
#ifndef ARGUS_BPF_STACK_H
#define ARGUS_BPF_STACK_H

#include "kernel_stack.h"
#include "late.h"
#include "ring.h"
#include "snapshot.h"
#include "user_stack.h"

#define PF_KTHREAD 0x00200000

/* The tracing's own frames on top of a kernel stack taken in a tracepoint. */
#define STACK_SKIP_TRACING 3

enum stack_user {
    STACK_USER_SWITCH,
    STACK_USER_WAKE,
    STACK_USER_SAMPLE,
    STACK_USER_FLAG,
    STACK_USER_CALL,
    STACK_USER_COUNT
};

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

/* Scratch data written while a stack is taken. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, STACK_USER_COUNT);
    __type(key, uint32_t);
    __type(value, struct bpf_window);
} windows SEC(".maps");

/* Never 0, which means "no stack". */
static __always_inline uint64_t stack_hash(const struct bpf_stack *stack)
{
    uint64_t hash = 1;
    for (uint64_t i = 0; i < BPF_STACK_FRAMES && i < stack->count; i++) {
        hash = (hash ^ stack->frames[i]) * 0x9e3779b97f4a7c15ull;
        hash ^= hash >> 32;
    }
    return hash | 1ull << 63;
}

/* The id of `stack`, which is stored under it. */
static __always_inline uint64_t stack_intern(struct bpf_stack *stack)
{
    uint64_t id = stack_hash(stack);
    if (!bpf_map_lookup_elem(&stacks, &id) && bpf_map_update_elem(&stacks, &id, stack, BPF_ANY) < 0)
        stack_count_lost();
    return id;
}

/* The id of the stack that the kernel's helper finds, by its flags; 0: none. */
static __always_inline uint64_t stack_by_helper(void *context, struct bpf_stack *stack,
                                                uint64_t flags)
{
    long bytes = bpf_get_stack(context, stack->frames, sizeof(stack->frames), flags);
    if (bytes <= 0) {
        stack_count_lost();
        return 0;
    }
    stack->count = (uint64_t)bytes / 8;
    return stack_intern(stack);
}

/* The id of the current thread's user stack; 0: none. It is a snapshot (snapshot.h) if `worth` says
 * so, if stacks at every call were requested (--call-stacks), or if the process was chosen. */
static __always_inline uint64_t stack_take_user_if(void *context, enum stack_user user, bool worth)
{
    uint32_t slot = user;
    bool any = (worth || settings.call_stacks) && late_is_on();
    bool wanted = any || settings.unwind & (UNWIND_PIDS | UNWIND_NAMES);
    uint64_t snapshot =
        settings.unwind && wanted ? snapshot_take(any ? SNAPSHOT_ANY : SNAPSHOT_CHOSEN) : 0;
    if (snapshot)
        return snapshot;
    struct task_struct *task = bpf_get_current_task_btf();
    struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
    struct bpf_stack *stack = bpf_map_lookup_elem(&scratch, &slot);
    struct bpf_window *window = bpf_map_lookup_elem(&windows, &slot);
    if (!stack || !window)
        return 0;
    if (arch_is_32_bit(regs)) /* frames of half the size */
        return stack_by_helper(context, stack, BPF_F_USER_STACK);
    /* volatile: the verifier would look at each number of frames by itself */
    *(volatile uint64_t *)&stack->count = user_stack_walk(task, stack->frames, window);
    if (*(volatile uint64_t *)&stack->count)
        return stack_intern(stack);
    stack_count_lost();
    return 0;
}

/* What tells the caller's place from others of its thread. */
static __always_inline uint64_t call_place(struct pt_regs *regs)
{
    return hash_add(arch_pc(regs), arch_stack_pointer(regs));
}

/* The stack with which the current thread began its system call, if stacks are taken there and it
 * has not been scheduled out since: it is still that one. 0: unknown. */
static __always_inline uint64_t stack_of_begin(struct task_struct *task)
{
    uint32_t cpu;
    if (!settings.call_stacks || switched_off)
        return 0;
    struct bpf_cpu *state = this_cpu(&cpu);
    struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
    if (!state || (state->caller_key ^ state->caller_ids) != (uint64_t)regs ||
        state->call_place != call_place(regs))
        return 0;
    return state->call_stack;
}

/* The same for rare events. */
static __always_inline uint64_t stack_take_whole(void *context, enum stack_user user)
{
    return stack_take_user_if(context, user, true);
}

/* The same for events that may be frequent. */
static __always_inline uint64_t stack_take_user(void *context, enum stack_user user)
{
    return stack_take_user_if(context, user, false);
}

/* The id of the kernel stack, without its `skipped` innermost frames; 0: none. `context`: the
 * program's own. */
static __always_inline uint64_t stack_take_kernel(void *context, enum stack_user user,
                                                  uint64_t skipped)
{
    uint32_t slot = user;
    struct bpf_stack *stack = bpf_map_lookup_elem(&scratch, &slot);
    return stack ? stack_by_helper(context, stack, skipped) : 0;
}

/* As stack_take_kernel(), in a system call that the thread itself made. */
static __always_inline uint64_t stack_take_call(void *context, enum stack_user user,
                                                uint64_t skipped)
{
    uint32_t slot = user, cpu;
    struct bpf_cpu *state = this_cpu(&cpu);
    struct bpf_window *window = bpf_map_lookup_elem(&windows, &slot);
    struct bpf_stack *stack = bpf_map_lookup_elem(&scratch, &slot);
    if (!state || !window || !stack)
        return 0;
    struct entry entry = {state->entry_first, state->entry_last};
    uint64_t name = kernel_stack_name(context, bpf_get_current_task_btf(), &entry, window->words);
    const uint64_t *known = name ? bpf_map_lookup_elem(&known_stacks, &name) : NULL;
    uint64_t id = known ? *known : 0;
    if (id && bpf_map_lookup_elem(&stacks, &id)) /* the table may have dropped it */
        return id;
    id = stack_by_helper(context, stack, skipped);
    if (!id)
        return 0;
    if (name && kernel_stack_agrees(stack, &entry, window))
        bpf_map_update_elem(&known_stacks, &name, &id, BPF_ANY);
    entry_learn(&entry, stack);
    state->entry_first = entry.first;
    state->entry_last = entry.last;
    return id;
}

#endif
