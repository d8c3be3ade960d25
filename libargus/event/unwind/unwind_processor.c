#include "event/unwind/unwind_processor.h"

#include <elf.h>
#include <stddef.h>

/* The numbers of the registers are those of the ABIs' supplements: AMD64 figure 3.36, Intel386
 * table 2.14, and "DWARF for the Arm 64-bit Architecture". Compilers align an i386 stack to 16
 * bytes at a call, but hand-written code may not, so a frame pointer is only aligned to 4. On
 * x86-64 they also align to 16, but V8 does not, and its frames are among theirs. */
static const struct unwind_processor processors[] = {
    {EM_X86_64, 17, 6, 7, 8, 8, 0, 2, {0x0f, 0x05}},
    {EM_386, 9, 5, 4, 4, 4, 32, 2, {0xcd, 0x80}},
    {EM_AARCH64, 33, 29, 31, 8, 16, 0, 4, {0x01, 0x00, 0x00, 0xd4}},
};

enum { PROCESSORS = sizeof(processors) / sizeof(processors[0]) };

const struct unwind_processor *unwind_processor_of(unsigned machine)
{
    for (size_t i = 0; i < PROCESSORS; i++)
        if (processors[i].machine == machine)
            return &processors[i];
    return &processors[0];
}

const struct unwind_processor *unwind_processor_with(uint32_t registers, bool arm)
{
    for (size_t i = 0; i < PROCESSORS; i++)
        if (processors[i].registers == registers && (processors[i].machine == EM_AARCH64) == arm)
            return &processors[i];
    return unwind_processor_of(arm ? EM_AARCH64 : EM_X86_64);
}
