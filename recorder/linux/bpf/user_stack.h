/* The user's call stack by frame pointers: each frame begins with the address of its caller's and
 * the return address.
 *
 * bpf_get_stack() reads one frame at a time, and enables and disables access to user memory each
 * time: 75 ns a frame here. Frames are close together. So a window of the stack is copied at once,
 * and the chain is followed inside it: 5 ns a frame. If it leaves the window, the next window is
 * copied from there.
 */
#ifndef ARGUS_BPF_USER_STACK_H
#define ARGUS_BPF_USER_STACK_H

#include "ring.h"

/* Frame and return address; with both, the verifier sees that an index below the count stays
 * inside. */
#define WINDOW_WORDS (BPF_WINDOW_BYTES / 8)

/* Following frame pointers through code without them ends at invalid addresses. */
static __always_inline bool is_user_address(uint64_t address)
{
    return address >= 4096 && address < 1ull << 56;
}

static __always_inline bool window_move(struct bpf_window *window, uint64_t address)
{
    window->address = address;
    window->bytes = BPF_WINDOW_BYTES;
    if (bpf_probe_read_user(window->words, BPF_WINDOW_BYTES, (const void *)address) == 0)
        return true;
    window->bytes = 16; /* the next page may not belong to the stack */
    return bpf_probe_read_user(window->words, 16, (const void *)address) == 0;
}

/* Fills `frames` from `address`, a frame pointer, on; returns how many there are then. `code_mask`:
 * arch_code_mask(). */
static __always_inline uint32_t follow_frames(uint64_t *frames, uint64_t address,
                                              uint64_t code_mask, struct bpf_window *window)
{
    uint32_t count = 1;
    for (; count < BPF_STACK_FRAMES; count++) {
        uint64_t offset = address - window->address;
        if (address & 7 || !is_user_address(address))
            break;
        if (offset > window->bytes - 16) {
            if (!window_move(window, address))
                break;
            offset = 0;
        }
        uint32_t index = (offset / 8) & (WINDOW_WORDS - 1);
        if (index > WINDOW_WORDS - 2)
            break;
        uint64_t caller = window->words[index];
        uint64_t return_address = window->words[index + 1] & code_mask;
        if (!is_user_address(return_address))
            break;
        frames[count] = return_address;
        address = caller != address ? caller : 0; /* an invalid frame pointer may point to itself */
    }
    return count;
}

/* Frames of the current thread, innermost first; 0: it has no user memory. */
static __always_inline uint32_t user_stack_walk(struct task_struct *task, uint64_t *frames,
                                                struct bpf_window *window)
{
    struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
    struct mm_struct *mm = task->mm;
    uint64_t pc = arch_pc(regs);
    if (!is_user_address(pc) || !mm)
        return 0;
    frames[0] = pc;
    window->address = 0; /* nothing is in it */
    window->bytes = 16;
    return follow_frames(frames, arch_frame_pointer(regs), arch_code_mask(mm), window);
}

#endif
