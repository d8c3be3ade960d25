/* What symbols.c and frame_names.c have in common: names as people read them, and calls in code. */
#ifndef ARGUS_EVENT_ELF_NAMES_H
#define ARGUS_EVENT_ELF_NAMES_H

#include "base/idmap.h"
#include "base/strtab.h"
#include "event/binary/elf_file.h"

/* Names of symbols that were made readable; each once. All zero but `names` is empty. */
struct readable_names {
    struct idmap by_name; /* address of a symbol's name in its file → id in `names` */
    struct strtab *names; /* owned */
};

void readable_names_deinit(struct readable_names *names);

/* `name` belongs to an open file and stays where it is, so its address names it. Demangled, without its version; borrowed. */
const char *readable_name(struct readable_names *names, const char *name);

/* The symbol of the function that a direct call calls which ends before `offset_bytes` of the file; NULL: there is none. */
const char *elf_called(struct elf_file *elf, uint64_t offset_bytes);

#endif
