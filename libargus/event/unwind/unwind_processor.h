/* What unwinding has to know of a processor. */
#ifndef ARGUS_EVENT_UNWIND_PROCESSOR_H
#define ARGUS_EVENT_UNWIND_PROCESSOR_H

#include <stdbool.h>
#include <stdint.h>

struct unwind_processor {
    unsigned machine;       /* EM_… of elf.h */
    uint32_t registers;     /* of a snapshot: DWARF's, and the pc behind them */
    uint32_t frame, stack;  /* numbers of the frame and stack pointer */
    uint32_t word_bytes;    /* of an address on the stack */
    uint32_t alignment;     /* of a frame pointer */
    uint32_t entry_bytes;   /* what ld.so's first code has on the stack when it calls */
    uint32_t syscall_bytes; /* of `syscall`, the instruction */
    uint8_t syscall[4];
};

/* Never NULL: that of x86-64 for one that is not known. */
const struct unwind_processor *unwind_processor_of(unsigned machine);

/* The one whose threads have so many registers, in a trace of arm64 or of x86-64; the trace's own when there is none. */
const struct unwind_processor *unwind_processor_with(uint32_t registers, bool arm);

#endif
