/* The code that the running kernel maps into every process. It has no file, but symbols and call frame information.
 *
 * That of 32-bit programs is not mapped into us, and a program that was recorded has mostly ended. So a child of ours asks the kernel
 * for it.
 */
#ifndef ARGUS_EVENT_ELF_VDSO_H
#define ARGUS_EVENT_ELF_VDSO_H

#include "event/binary/elf_file.h"

/* As a file that the caller closes; NULL where there is none. */
struct elf_file *elf_vdso_open(void);

/* The same of 32-bit programs: on x86_64, where the kernel can restore checkpoints (CONFIG_CHECKPOINT_RESTORE). */
struct elf_file *elf_vdso_open_32_bit(void);

#endif
