/* The code that the running kernel maps into every process. It is not in a file, but has symbols
 * and call frame information.
 *
 * The vdso of 32-bit programs is not mapped into this process, and the recorded program has usually
 * ended. So a child of this process asks the kernel for it.
 */
#ifndef ARGUS_EVENT_ELF_VDSO_H
#define ARGUS_EVENT_ELF_VDSO_H

#include "event/binary/elf_file.h"

/* This process's vdso as a file, to be closed by the caller; NULL: there is none. */
struct elf_file *elf_vdso_open(void);

/* The same for 32-bit programs: on x86_64, if the kernel can restore checkpoints
 * (CONFIG_CHECKPOINT_RESTORE). */
struct elf_file *elf_vdso_open_32_bit(void);

#endif
