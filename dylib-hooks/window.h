/* The window: the instructions at the victim address that the jump replaces, all of them whole; and everything that
 * forbids it. */
#ifndef ARGUS_HOOKS_WINDOW_H
#define ARGUS_HOOKS_WINDOW_H

#include "image.h"
#include "insn_decode.h"

struct window {
    struct insn insns[HOOK_STARTS_MOST];
    uint32_t count, bytes;
    uint64_t address;
    uint64_t function_first, function_end;
};

/* Chooses the window at `address`. The error says what is in the way: no instruction begins there, the function is
 * too short, an instruction cannot be moved, somebody jumps into it. */
struct argus_error *window_choose(const struct image *image, struct decoder *decoder,
                                  uint64_t address, struct window *ret);

/* jump_targets.c: an error when something may jump behind the first byte of the window. */
struct argus_error *window_check_targets(const struct image *image, struct decoder *decoder,
                                         const struct window *window);

/* The trampoline: a call of the shell function, the moved instructions, a jump back (move_x86_64.c, move_arm64.c). */
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

/* "+0x1c (mov rax, rdi)": for errors. */
void window_describe(const struct window *window, const struct insn *insn, size_t room, char *ret);

#endif
