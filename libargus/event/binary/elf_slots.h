/* The words of an ELF file that the dynamic linker fills with the address of a symbol: the global
 * offset table, through which code calls other files and reaches their variables. */
#ifndef ARGUS_EVENT_ELF_SLOTS_H
#define ARGUS_EVENT_ELF_SLOTS_H

#include "base/vec.h"
#include "event/binary/elf_file.h"

struct elf_slot {
    uint64_t place;   /* address of the word, in the file's address space */
    const char *name; /* of the symbol, borrowed from the file, without its version */
    uint64_t value;   /* where the file itself has the symbol, if is_defined; with the addend */
    bool is_defined;  /* else another file has it */
    bool is_thread_local;
};

struct elf_slots {
    VEC(struct elf_slot) all; /* by place */
};

/* Without memory or without such words there are none. */
void elf_slots_init(struct elf_slots *slots, const struct elf_file *file);
void elf_slots_deinit(struct elf_slots *slots);

/* NULL: the dynamic linker puts no symbol's address there. */
const struct elf_slot *elf_slots_find(const struct elf_slots *slots, uint64_t place);

#endif
