/* Unwinds by frame pointers where call frame information is missing: in programs built without it
 * (Chromium), and in code made at run time (V8, the JVM). Both maintain a frame pointer, because
 * their own profilers and debuggers need one.
 *
 * If the register is not used as a frame pointer, its value is meaningless. So a step is *possible*
 * only if the pointer is aligned and above the stack pointer. It is *sure* if the return address is
 * behind a call instruction, which the file shows. A possible step counts only if a sure one
 * follows (unwinder.c).
 */
#ifndef ARGUS_EVENT_UNWIND_FRAME_H
#define ARGUS_EVENT_UNWIND_FRAME_H

#include <stddef.h>

#include "event/unwind/cfi_expression.h"
#include "event/unwind/unwind_processor.h"

enum frame_step {
    /* `machine` is now in the caller's state as far as frame pointers tell: pc, frame and stack
     * pointer */
    FRAME_STEPPED,
    FRAME_NO_MEMORY, /* the frame is on the stack, but not in the copy */
    FRAME_NONE,      /* the register is not a frame pointer */
};

enum frame_step frame_step(struct cfi_machine *machine, const struct unwind_processor *processor);

/* Length of the longest call instruction. */
#define FRAME_CALL_BYTES 7

/* Whether the last of these `count` bytes, which precede a return address, end a call
 * instruction. */
bool frame_is_call(const uint8_t *before, size_t count, unsigned elf_machine);

#endif
