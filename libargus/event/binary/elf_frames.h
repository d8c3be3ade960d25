/* The starts of functions without symbols. */
#ifndef ARGUS_EVENT_ELF_FRAMES_H
#define ARGUS_EVENT_ELF_FRAMES_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

/* A row of the table, in the file's address space. */
struct elf_frame {
    uint64_t start;       /* of the function */
    uint64_t description; /* of its unwind information in .eh_frame */
};

/* The last function that starts at or before `address`. False: the file has no such table, or one
 * in another format. */
bool elf_frames_find(Elf *elf, uint64_t address, struct elf_frame *ret);

#endif
