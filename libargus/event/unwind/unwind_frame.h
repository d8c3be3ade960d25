/* Frame pointers, where there is no call frame information: programs that were built without it (Chromium), and code that was made
 * at run time (V8, the JVM). Both keep a frame pointer, since their own profilers and debuggers need one.
 *
 * A register that is no frame pointer leads to nonsense. So a step is only possible where the pointer is aligned and lies above
 * the stack pointer. And it is sure where the return address lies behind a call, which the
 * file shows. What was only possible counts when something sure comes behind it (unwinder.c).
 */
#ifndef ARGUS_EVENT_UNWIND_FRAME_H
#define ARGUS_EVENT_UNWIND_FRAME_H

#include <stddef.h>

#include "event/unwind/cfi_expression.h"
#include "event/unwind/unwind_processor.h"

enum frame_step {
    FRAME_STEPPED, /* `machine` is the caller, as far as frame pointers tell: pc, frame and stack pointer */
    FRAME_NO_MEMORY, /* the frame is on the stack, but not in the copy */
    FRAME_NONE,      /* the register is no frame pointer */
};

enum frame_step frame_step(struct cfi_machine *machine, const struct unwind_processor *processor);

/* The longest call instruction. */
#define FRAME_CALL_BYTES 7

/* Whether the last of these `count` bytes end a call: those before a return address. */
bool frame_is_call(const uint8_t *before, size_t count, unsigned elf_machine);

#endif
