/* The beginnings of functions without a symbol. */
#ifndef ARGUS_EVENT_ELF_FRAMES_H
#define ARGUS_EVENT_ELF_FRAMES_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

/* The beginning of the last function that begins at `address` or before it, in the file's address space. False: the file has no
 * table of them, or another form of it. */
bool elf_frames_start(Elf *elf, uint64_t address, uint64_t *ret);

#endif
