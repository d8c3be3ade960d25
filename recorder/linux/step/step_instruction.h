/* What the stepper must know about an instruction before the thread executes it: only whether it is
 * a call or return, or must not be single-stepped. The front end decodes everything else later.
 */
#ifndef ARGUS_RECORDER_LINUX_STEP_INSTRUCTION_H
#define ARGUS_RECORDER_LINUX_STEP_INSTRUCTION_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum step_instruction_kind {
    STEP_PLAIN,
    STEP_IS_CALL,
    STEP_IS_RETURN,
    STEP_IS_REPEATED, /* traps after each repetition: x86's rep … */
    STEP_IS_PUSHF,    /* stores the trap flag that the kernel has set for stepping */
    /* Load the flags, and with them the trap flag. A kernel that steps one of them takes the trap
     * flag for the thread's own from then on, and leaves it set (arch/x86/kernel/step.c,
     * is_setting_trap_flag()). */
    STEP_IS_POPF,
    STEP_IS_IRET,           /* … and continues at the address on the stack */
    STEP_IS_CALL_OF_KERNEL, /* syscall, svc: may wait for any length of time */
    STEP_IS_TRAP,           /* int3, brk: makes a SIGTRAP of its own */
    /* arm64: begins a load/store-exclusive sequence, in which a trap would make the store fail
     * every time. */
    STEP_IS_EXCLUSIVE,
};

struct step_instruction {
    uint8_t kind; /* enum step_instruction_kind */
    /* REPEATED, POPF, EXCLUSIVE: bytes to the next instruction after it or after the sequence;
     * otherwise 0. */
    uint8_t length;
};

enum { STEP_INSTRUCTION_ROOM = 80 }; /* bytes that may be examined: 20 arm64 instructions */

/* `code` has `bytes` bytes, at least one. */
struct step_instruction step_instruction_x86_64(const uint8_t *code, size_t bytes);
struct step_instruction step_instruction_aarch64(const uint8_t *code, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
