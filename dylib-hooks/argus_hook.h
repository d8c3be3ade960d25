/* What a shell function is given, and what it may call. For those who write one of their own:
 *
 *     #include <argus_hook.h>
 *     void my_shell(const struct argus_hook *hook, struct argus_hook_context *context)
 *     {
 *         argus_hook_emit(hook, ARGUS_HOOK_NOTE, context->registers[ARGUS_HOOK_RDI], 0, 0);
 *     }
 *
 * It runs in place of the victim instruction, in the thread that came there, before the instruction itself is
 * executed. All registers, also the floating-point ones, are saved around it; what it writes into `registers`
 * counts afterwards (but for the stack pointer). While it runs, hooks that the same thread comes across do not call it again, so it
 * may use the library that it hooks. It must not jump out (longjmp, exceptions), and it may be called in any
 * thread at any time, also inside malloc() or in a signal handler.
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
/* In the order in which they lie on the stack. ARGUS_HOOK_RETURN is not the program's. */
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

struct argus_hook; /* which hook it is: opaque */

/* The debugid of records that mean what their hook's label says (docs/man/argus-trace.5.md). */
#define ARGUS_HOOK_NOTE 0x60030018u

/* Leaves a record: on Linux in the ring of the recorder, on macOS by kdebug_trace(). Costs a system call; nobody needs to be
 * recording. */
void argus_hook_emit(const struct argus_hook *hook, uint32_t debugid, uint64_t arg1, uint64_t arg2,
                     uint64_t arg3);
/* "GLib source", and "g_main_dispatch+0x1c4", as in the table; valid for ever. */
const char *argus_hook_label(const struct argus_hook *hook);
const char *argus_hook_place(const struct argus_hook *hook);

#ifdef __cplusplus
}
#endif
#endif
