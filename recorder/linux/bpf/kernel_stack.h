/* The kernel's call stack, recognized if it was seen before.
 *
 * Without frame pointers the kernel unwinds itself by tables (ORC), at some 120 ns a frame: half of
 * the cost of a blocking wait. But nearly always a thread waits where a thread has waited before.
 * The result of unwinding depends on its start, on the return addresses, and on their positions:
 * the table has a distance for each return address. So the stack words that may be return
 * addresses, with their positions, are hashed to an ID, from the program's own frame up to the
 * return into the system call's entry (do_syscall_64), above which the stack is always the same.
 * Above that is a gap of random size (CONFIG_RANDOMIZE_KSTACK_OFFSET), so the distance to the top
 * of the stack says nothing.
 *
 * The hash also includes words that earlier calls left in unused places. They make some known
 * stacks look new, and these are unwound again. Such a word could be a return into the entry. So an
 * ID is only kept if all frames that unwinding found are among the words up to there, in their
 * order.
 *
 * arm64 has frame pointers, and unwinds cheaply.
 */
#ifndef ARGUS_BPF_KERNEL_STACK_H
#define ARGUS_BPF_KERNEL_STACK_H

#include "ring.h"

/* From such an ID to the ID of the stack. */
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 16384);
    __type(key, uint64_t);
    __type(value, uint64_t);
} known_stacks SEC(".maps");

#if defined(__TARGET_ARCH_x86)
#define KERNEL_STACK_HAS_NAME 1
#else
#define KERNEL_STACK_HAS_NAME 0
#endif

/* Where x86-64 has the kernel and its modules, below the fixed mappings
 * (Documentation/arch/x86/x86_64/mm.rst). */
#define KERNEL_TEXT       0xffffffff80000000ull
#define KERNEL_TEXT_BYTES 0x7f000000ull

#define STEP_WORDS 64 /* copied at once: most stacks of a wait need one or two */
#define STEPS      (BPF_WINDOW_BYTES / 8 / STEP_WORDS)

static __always_inline bool may_return_to(uint64_t word)
{
    return word - KERNEL_TEXT < KERNEL_TEXT_BYTES;
}

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

/* Adds `count` words at `from` words from the beginning to `*hash`, up to and including the return
 * into the entry; true if that was reached. */
static __always_inline bool name_step(const uint64_t *words, uint32_t from, uint32_t count,
                                      const struct entry *entry, uint64_t *hash)
{
    for (uint64_t i = 0; i < STEP_WORDS && i < count; i++) {
        uint64_t word = words[i];
        if (!may_return_to(word))
            continue;
        *hash = (*hash ^ word ^ (uint64_t)(from + i) << 32) * 0x9e3779b97f4a7c15ull;
        *hash ^= *hash >> 32;
        if (is_in_entry(entry, word))
            return true;
    }
    return false;
}

/* The hash of the current thread's kernel stack from `context`, an address on it; 0: none. */
static __always_inline uint64_t kernel_stack_name(const void *context, struct task_struct *task,
                                                  const struct entry *entry, uint64_t *words)
{
    uint64_t at = (uint64_t)context, top = (uint64_t)bpf_task_pt_regs(task), hash = 1;
    for (uint64_t step = 0; step < STEPS && entry->first && at < top; step++) {
        uint64_t *part = words + step * STEP_WORDS, bytes = top - at;
        if (bytes > STEP_WORDS * 8)
            bytes = STEP_WORDS * 8;
        if (bpf_probe_read_kernel(part, bytes, (const void *)at) < 0)
            return 0;
        if (name_step(part, step * STEP_WORDS, bytes / 8, entry, &hash))
            return hash | 1;
        at += STEP_WORDS * 8;
    }
    return 0;
}

/* Whether the hashed words contain the frames of `stack` up to the entry, in their order. */
static __always_inline bool kernel_stack_agrees(const struct bpf_stack *stack,
                                                const struct entry *entry,
                                                struct bpf_window *window)
{
    window->found = 0;
    for (uint64_t i = 0; i < BPF_WINDOW_BYTES / 8; i++) {
        uint64_t word = window->words[i], frame = window->found;
        bool is_next = frame < BPF_STACK_FRAMES && word == stack->frames[frame];
        window->found = frame + is_next;
        if (is_in_entry(entry, word))
            return is_next;
    }
    return false;
}

/* Learns from `stack`, which was unwound in a system call: the last frame but one is in the entry.
 */
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
