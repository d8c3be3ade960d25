/* What the stepper has to know of an instruction before it lets the thread execute it: not what it does, only whether it goes
 * somewhere and comes back, or must not be single-stepped. Everything else is for the front end, later.
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
    STEP_IS_TRAP,     /* int3, brk: makes a SIGTRAP of its own */
    STEP_IS_EXCLUSIVE, /* arm64: begins a load/store-exclusive sequence, which a trap inside would make fail for ever */
};

struct step_instruction {
    uint8_t kind; /* enum step_instruction_kind */
    uint8_t
        length; /* REPEATED, EXCLUSIVE: bytes to the instruction behind it, or behind the sequence; otherwise 0 */
};

enum { STEP_INSTRUCTION_ROOM = 80 }; /* bytes that may be looked at: 20 arm64 instructions */

/* `code` has `bytes` bytes, at least one. */
struct step_instruction step_instruction_x86_64(const uint8_t *code, size_t bytes);
struct step_instruction step_instruction_aarch64(const uint8_t *code, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
