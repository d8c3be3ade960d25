/* Properties of a processor that unwinding needs. */
#ifndef ARGUS_EVENT_UNWIND_PROCESSOR_H
#define ARGUS_EVENT_UNWIND_PROCESSOR_H

#include <stdbool.h>
#include <stdint.h>

struct unwind_processor {
    unsigned machine;       /* EM_… of elf.h */
    uint32_t registers;     /* in a snapshot: DWARF's registers, followed by the pc */
    uint32_t frame, stack;  /* numbers of the frame and stack pointer */
    uint32_t word_bytes;    /* of an address on the stack */
    uint32_t alignment;     /* alignment of a frame pointer */
    uint32_t entry_bytes;   /* size of what ld.so's first code has on the stack when it calls */
    uint32_t syscall_bytes; /* size of the system call instruction */
    uint8_t syscall[4];
};

/* Never NULL: for an unknown machine, that of x86-64. */
const struct unwind_processor *unwind_processor_of(unsigned machine);

/* The processor whose threads have this many registers, in a trace of arm64 or x86-64; if there is
 * none, the trace's own. */
const struct unwind_processor *unwind_processor_with(uint32_t registers, bool arm);

#endif
