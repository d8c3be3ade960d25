/* The interface for shell functions: what they get and what they may call. An example:
 *
 *     #include <argus_hook.h>
 *     void my_shell(const struct argus_hook *hook, struct argus_hook_context *context)
 *     {
 *         argus_hook_emit(hook, ARGUS_HOOK_NOTE, context->registers[ARGUS_HOOK_RDI], 0, 0);
 *     }
 *
 * A shell function runs in the thread that reaches the victim instruction, before that instruction
 * is executed. All registers, also the floating-point ones, are saved around it; values that it
 * writes into `registers` take effect (except the stack pointer). While it runs, other hooks that
 * the same thread reaches are ignored, so it may use the library that it hooks. It must not be left
 * by longjmp or an exception. It may be called in any thread at any time, also inside malloc() or
 * in a signal handler.
 */
#ifndef ARGUS_HOOK_H
#define ARGUS_HOOK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__aarch64__)
enum {
    ARGUS_HOOK_X0 = 0,
    ARGUS_HOOK_X30 = 30,
    ARGUS_HOOK_FLAGS,
    ARGUS_HOOK_SP,
    ARGUS_HOOK_REGISTERS
};
#else
/* In their order on the stack. ARGUS_HOOK_RETURN does not belong to the program. */
enum {
    ARGUS_HOOK_SP = 0,
    ARGUS_HOOK_R15,
    ARGUS_HOOK_R14,
    ARGUS_HOOK_R13,
    ARGUS_HOOK_R12,
    ARGUS_HOOK_R11,
    ARGUS_HOOK_R10,
    ARGUS_HOOK_R9,
    ARGUS_HOOK_R8,
    ARGUS_HOOK_RDI,
    ARGUS_HOOK_RSI,
    ARGUS_HOOK_RBP,
    ARGUS_HOOK_RBX,
    ARGUS_HOOK_RDX,
    ARGUS_HOOK_RCX,
    ARGUS_HOOK_FLAGS,
    ARGUS_HOOK_RETURN,
    ARGUS_HOOK_RAX,
    ARGUS_HOOK_REGISTERS
};
#endif

struct argus_hook_context {
    uint64_t registers[ARGUS_HOOK_REGISTERS];
};

struct argus_hook; /* identifies the hook; opaque */

/* The debugid of records whose meaning is their hook's label (docs/man/argus-trace.5.md). */
#define ARGUS_HOOK_NOTE 0x60030018u

/* Leaves a record: on Linux in the ring of the recorder, on macOS by kdebug_trace(). Costs a system
 * call, also if no recorder runs. */
void argus_hook_emit(const struct argus_hook *hook, uint32_t debugid, uint64_t arg1, uint64_t arg2,
                     uint64_t arg3);
/* "GLib source", and "g_main_dispatch+0x1c4", as in the table; never freed. */
const char *argus_hook_label(const struct argus_hook *hook);
const char *argus_hook_place(const struct argus_hook *hook);

#ifdef __cplusplus
}
#endif
#endif
