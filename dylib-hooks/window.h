/* The window: the whole instructions at the victim address that the jump replaces; and the reasons
 * that forbid it. */
#ifndef ARGUS_HOOKS_WINDOW_H
#define ARGUS_HOOKS_WINDOW_H

#include "function_code.h"

struct window {
    struct insn insns[HOOK_STARTS_MOST];
    uint32_t count, bytes;
    uint64_t address;
    uint64_t function_first;
    bool returns_inside; /* it has a call that is not its last instruction */
};

/* Chooses the window at `address`, which is in `code`. The error gives the obstacle: no instruction
 * begins there, the function is too short, an instruction cannot be moved, or a jump leads into the
 * window. `inner_calls`: the window may have a call that is not its last instruction (see
 * move_x86_64.c). */
struct argus_error *window_choose(const struct function_code *code, uint64_t address,
                                  bool inner_calls, struct window *ret);

/* The trampoline: a call of the shell function, the moved instructions, a jump back (move_x86_64.c,
 * move_arm64.c). */
#define TRAMPOLINE_MOST 320
#define FIXUPS_MOST     24
struct trampoline_plan {
    uint8_t code[TRAMPOLINE_MOST];
    uint32_t bytes;
    struct hook_fixup fixups[FIXUPS_MOST];
    uint32_t fixup_count;
    uint16_t moved_to[HOOK_STARTS_MOST];
};
struct argus_error *window_move_x86_64(const struct window *window, struct trampoline_plan *ret);
struct argus_error *window_move_arm64(const struct window *window, struct trampoline_plan *ret);

/* Chooses the window and moves its instructions, for the image's architecture. */
struct argus_error *window_move(const struct function_code *code, uint64_t address,
                                bool inner_calls, struct window *ret,
                                struct trampoline_plan *ret_trampoline);

/* "+0x1c (mov rax, rdi)": for errors. */
void window_describe(const struct window *window, const struct insn *insn, size_t room, char *ret);

#endif
