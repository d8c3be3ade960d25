/* The beginnings of functions without a symbol. */
#ifndef ARGUS_EVENT_ELF_FRAMES_H
#define ARGUS_EVENT_ELF_FRAMES_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

/* A row of the table, in the file's address space. */
struct elf_frame {
    uint64_t start;       /* of the function */
    uint64_t description; /* of how it is unwound, in .eh_frame */
};

/* The last function that begins at `address` or before it. False: the file has no table of them, or another form of it. */
bool elf_frames_find(Elf *elf, uint64_t address, struct elf_frame *ret);

#endif
