/* The way from a signal handler to the code that it interrupted, where no call frame information tells it: on arm64.
 *
 * Linux lets a handler return to a few instructions in the vdso that have none on purpose ("arm64: vdso: Disable dwarf
 * unwinding through the sigreturn trampoline", Linux 5.8), and musl and Go have such instructions of their own. What every
 * unwinder does instead, libgcc's as well: these instructions are recognised, and the registers read from the signal's frame.
 */
#ifndef ARGUS_EVENT_UNWIND_SIGNAL_H
#define ARGUS_EVENT_UNWIND_SIGNAL_H

#include "event/unwind/cfi_expression.h"

enum { UNWIND_SIGNAL_CODE_BYTES = 8 };

/* Are these the instructions that a handler returns to? */
bool unwind_signal_is_return(const uint8_t code[UNWIND_SIGNAL_CODE_BYTES]);

/* `machine` is at those instructions; makes it the interrupted code. False: the frame is not in the copied stack. */
bool unwind_signal_step(struct cfi_machine *machine);

#endif
