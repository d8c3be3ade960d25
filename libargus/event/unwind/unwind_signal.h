/* Unwinds from a signal handler to the interrupted code if there is no call frame information for
 * that: on arm64.
 *
 * On Linux a handler returns to a few instructions in the vdso that deliberately have none ("arm64:
 * vdso: Disable dwarf unwinding through the sigreturn trampoline", Linux 5.8), and musl and Go have
 * such instructions of their own. So, as in libgcc's unwinder, these instructions are recognized,
 * and the registers are read from the signal frame.
 */
#ifndef ARGUS_EVENT_UNWIND_SIGNAL_H
#define ARGUS_EVENT_UNWIND_SIGNAL_H

#include "event/unwind/cfi_expression.h"

enum { UNWIND_SIGNAL_CODE_BYTES = 8 };

/* Whether these are the instructions to which a handler returns. */
bool unwind_signal_is_return(const uint8_t code[UNWIND_SIGNAL_CODE_BYTES]);

/* `machine` is at those instructions; sets it to the state of the interrupted code. False: the
 * frame is not in the copied stack. */
bool unwind_signal_step(struct cfi_machine *machine);

#endif
