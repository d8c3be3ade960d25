/* A step up the stack in functions of Go's compiler.
 *
 * Go's table tells for each instruction how far the return address is from the stack pointer. So
 * neither call frame information nor a frame pointer is needed, which stripped programs and
 * functions in assembly do not have. */
#ifndef ARGUS_LIVE_GO_UNWIND_H
#define ARGUS_LIVE_GO_UNWIND_H

#include "event/unwind/cfi.h"
#include "event/unwind/unwind_processor.h"
#include "live/live_images.h"

enum live_go_step {
    LIVE_GO_NONE,      /* not such a function, or not known; `machine` is unchanged */
    LIVE_GO_STEPPED,   /* `machine` is in the caller's state, without its frame pointer */
    LIVE_GO_OUTERMOST, /* the function has no caller on this stack */
};

/* `address` is in the address space of `elf`, and in the call, not behind it. x86-64 only. */
enum live_go_step live_go_step(struct elf_file *elf, uint64_t address,
                               const struct unwind_processor *processor,
                               struct cfi_machine *machine);

#endif
