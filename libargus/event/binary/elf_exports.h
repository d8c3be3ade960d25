/* Variables that files share by name: what the dynamic linker resolves (.dynsym). */
#ifndef ARGUS_EVENT_ELF_EXPORTS_H
#define ARGUS_EVENT_ELF_EXPORTS_H

#include "event/binary/elf_file.h"

struct elf_export {
    const char *name; /* borrowed from the file, without its version */
    uint64_t address; /* in the file's address space */
    uint64_t bytes;   /* 0: not known */
    bool is_defined;  /* the file has it, or a copy of it; else another file has it */
};

/* The variable `name`, which the file exports or takes from another one. False: it does neither. A
 * thread-local variable counts as none. Costs a scan of the table. */
bool elf_export_find(const struct elf_file *file, const char *name, struct elf_export *ret);
/* The address of the function `name` that the file exports. False: it exports none. */
bool elf_export_function(const struct elf_file *file, const char *name, uint64_t *ret);
/* Whether the file takes a function or variable of this name from another one. */
bool elf_import_find(const struct elf_file *file, const char *name);
/* The exported variable that covers `address`. False: none. */
bool elf_export_at(const struct elf_file *file, uint64_t address, struct elf_export *ret);

#endif
