/* The kernel's call stack, recognized if it was seen before.
 *
 * Without frame pointers the kernel unwinds itself by tables (ORC), at some 120 ns a frame: half of
 * the cost of a blocking wait. But nearly always a thread waits where a thread has waited before.
 * The table has, for each return address, the distance to the next one. So if the same return
 * addresses are at the same positions as in a stack that was unwound, from the program's own frame
 * up to the return into the system call's entry (do_syscall_64), it is the same stack. Above that
 * it is always the same, but behind a gap of random size (CONFIG_RANDOMIZE_KSTACK_OFFSET).
 *
 * A stack is looked up by its system call, its depth, and the function that went to sleep. Other
 * words of the stack do not count: earlier calls have left return addresses in unused places. Such
 * a word could have the address of a frame, too. So the positions of a stack are only kept if its
 * frames fit in one way only: those found from the inner end and from the outer end are the same.
 *
 * arm64 has frame pointers, and unwinds cheaply.
 */
#ifndef ARGUS_BPF_KERNEL_STACK_H
#define ARGUS_BPF_KERNEL_STACK_H

#include "stack_maps.h"

/* By kernel_stack_key(). */
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 16384);
    __type(key, uint64_t);
    __type(value, struct bpf_known_stack);
} known_stacks SEC(".maps");

#if defined(__TARGET_ARCH_x86)
#define KERNEL_STACK_HAS_NAME 1
#else
#define KERNEL_STACK_HAS_NAME 0
#endif

#define KERNEL_WORDS (BPF_WINDOW_BYTES / 8)
#define STEP_WORDS   64 /* copied at once: most stacks of a wait need one or two */
#define STEPS        (KERNEL_WORDS / STEP_WORDS)

/* Frames of a stack: __schedule, schedule, and the function that called it. */
#define KERNEL_SLEEPER 2

/* The addresses that system calls return to in their entry: one, or a few. They are learned from
 * unwound stacks. */
struct entry {
    uint64_t first, last; /* inclusive; 0: none known */
};

#define ENTRY_BYTES_MOST 4096

static __always_inline bool is_in_entry(const struct entry *entry, uint64_t word)
{
    return word - entry->first <= entry->last - entry->first;
}

/* The functions below that are not inlined are analysed by the verifier once, and what they return is an unknown number: otherwise
 * it would follow each depth of a stack separately. `slot`: enum stack_user.
 *
 * Copies the kernel stack of the current thread from window->address to window->end. Returns the number of words up to the return
 * into the entry, inclusive; 0: it was not found. */
__attribute__((noinline)) uint32_t kernel_stack_copy(uint32_t slot)
{
    uint32_t cpu;
    const struct bpf_cpu *state = this_cpu(&cpu);
    struct bpf_window *window = bpf_map_lookup_elem(&windows, &slot);
    if (!state || !window || !state->entry_first)
        return 0;
    struct entry entry = {state->entry_first, state->entry_last};
    uint64_t at = window->address, room = window->end - at;
    for (uint64_t step = 0; step < STEPS; step++) {
        uint64_t *part = window->words + step * STEP_WORDS;
        uint64_t bytes = at_most(room, STEP_WORDS * 8);
        if (bpf_probe_read_kernel(part, bytes, (const void *)at) < 0)
            return 0;
        for (uint64_t i = 0; i < STEP_WORDS && i < bytes / 8; i++)
            if (is_in_entry(&entry, part[i]))
                return step * STEP_WORDS + i + 1;
        if (bytes < STEP_WORDS * 8)
            return 0;
        at += bytes;
        room -= bytes;
    }
    return 0;
}

/* The same from `context`, an address on it: a pointer cannot be passed as a number. */
static __always_inline uint32_t kernel_stack_copy_from(const void *context, uint32_t slot)
{
    struct bpf_window *window = bpf_map_lookup_elem(&windows, &slot);
    if (!window)
        return 0;
    window->address = (uint64_t)context;
    window->end = (uint64_t)bpf_task_pt_regs(bpf_get_current_task_btf());
    return kernel_stack_copy(slot);
}

/* `sleeper`: the position of the function that went to sleep. */
static __always_inline uint64_t kernel_stack_key(uint64_t call, uint32_t depth,
                                                 const uint64_t *words, uint64_t sleeper)
{
    uint64_t hash = (call << 32 ^ depth) * 0x9e3779b97f4a7c15ull;
    hash = (hash ^ hash >> 32 ^ words[sleeper & (KERNEL_WORDS - 1)]) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 32;
}

/* Whether the words have the return addresses of `stack` at the positions of `known`. */
static __always_inline bool kernel_stack_is(const struct bpf_known_stack *known,
                                            const struct bpf_stack *stack, const uint64_t *words)
{
    for (uint64_t i = 0; i < BPF_STACK_FRAMES; i++) {
        if (i >= known->count)
            break;
        if (words[known->at[i] & (KERNEL_WORDS - 1)] != stack->frames[i])
            return false;
    }
    return true;
}

/* The ID of the kernel stack that kernel_stack_copy() has copied; 0: it is not known. */
__attribute__((noinline)) uint64_t kernel_stack_recognise(uint32_t slot, uint64_t call,
                                                          uint32_t depth)
{
    uint32_t cpu;
    const struct bpf_cpu *state = this_cpu(&cpu);
    const struct bpf_window *window = bpf_map_lookup_elem(&windows, &slot);
    if (!state || !window)
        return 0;
    uint64_t key = kernel_stack_key(call, depth, window->words, state->sleeper);
    const struct bpf_known_stack *known = bpf_map_lookup_elem(&known_stacks, &key);
    if (!known)
        return 0;
    uint64_t id = known->id;
    const struct bpf_stack *stack = bpf_map_lookup_elem(&stacks, &id);
    if (!stack) /* the table has dropped it */
        return 0;
    return kernel_stack_is(known, stack, window->words) ? id : 0;
}

/* Finds the frames of the stack that was unwound in the first `depth` words, each as far inside as possible. Returns 0 if not all
 * are there up to the last word, the return into the entry. */
__attribute__((noinline)) uint32_t find_from_inside(uint32_t slot, uint32_t depth)
{
    struct bpf_window *window = bpf_map_lookup_elem(&windows, &slot);
    const struct bpf_stack *stack = bpf_map_lookup_elem(&scratch, &slot);
    if (!window || !stack)
        return 0;
    window->found = 0;
    for (uint64_t i = 0; i < KERNEL_WORDS && i < depth; i++) {
        uint64_t frame = window->found;
        if (frame >= BPF_STACK_FRAMES || frame >= stack->count ||
            window->words[i] != stack->frames[frame])
            continue;
        window->known.at[frame] = i;
        window->found = frame + 1;
    }
    uint64_t last = window->found - 1;
    return last < BPF_STACK_FRAMES && window->known.at[last] == depth - 1;
}

/* Returns 1 if each of these frames is where it was found, if it is as far outside as possible. */
__attribute__((noinline)) uint32_t find_from_outside(uint32_t slot, uint32_t depth)
{
    struct bpf_window *window = bpf_map_lookup_elem(&windows, &slot);
    const struct bpf_stack *stack = bpf_map_lookup_elem(&scratch, &slot);
    if (!window || !stack)
        return 0;
    window->left = window->found;
    for (uint64_t i = 0; i < KERNEL_WORDS && i < depth; i++) {
        uint64_t frame = window->left - 1, at = (depth - 1 - i) & (KERNEL_WORDS - 1);
        if (frame >= BPF_STACK_FRAMES)
            return 1;
        if (window->words[at] != stack->frames[frame])
            continue;
        if (window->known.at[frame] != at)
            return 0;
        window->left = frame;
    }
    return window->left == 0;
}

/* The stack that kernel_stack_copy() has copied was unwound, and has this ID. Returns 1 if it will be recognised. */
__attribute__((noinline)) uint32_t kernel_stack_learn(uint32_t slot, uint64_t call, uint32_t depth,
                                                      uint64_t id)
{
    uint32_t cpu;
    struct bpf_cpu *state = this_cpu(&cpu);
    struct bpf_window *window = bpf_map_lookup_elem(&windows, &slot);
    if (!state || !window || !find_from_inside(slot, depth) || !find_from_outside(slot, depth))
        return 0;
    window->known.id = id;
    window->known.count = window->found;
    state->sleeper = window->known.at[KERNEL_SLEEPER];
    uint64_t key = kernel_stack_key(call, depth, window->words, state->sleeper);
    return bpf_map_update_elem(&known_stacks, &key, &window->known, BPF_ANY) == 0;
}

/* Learns from `stack`, which was unwound in a system call: the last frame but one is in the entry. */
static __always_inline void entry_learn(struct entry *entry, const struct bpf_stack *stack)
{
    if (stack->count < 3 || stack->count >= BPF_STACK_FRAMES)
        return;
    uint64_t address = stack->frames[(stack->count - 2) & (BPF_STACK_FRAMES - 1)];
    uint64_t first = address < entry->first ? address : entry->first;
    uint64_t last = address > entry->last ? address : entry->last;
    bool is_near = last - first < ENTRY_BYTES_MOST; /* or one of both stacks ended too early */
    entry->first = is_near ? first : address;
    entry->last = is_near ? last : address;
}

#endif
