/* Shared by symbols.c and frame_names.c: demangled names, and targets of calls. */
#ifndef ARGUS_EVENT_ELF_NAMES_H
#define ARGUS_EVENT_ELF_NAMES_H

#include "base/idmap.h"
#include "base/strtab.h"
#include "event/binary/elf_file.h"

/* A cache of demangled names. A struct with all members zero except `names` is empty. */
struct readable_names {
    struct idmap by_name; /* address of a symbol's name in its file → id in `names` */
    struct strtab *names; /* owned */
};

void readable_names_deinit(struct readable_names *names);

/* The name demangled, without its version; borrowed. `name` must belong to an open file, since its
 * address is the key of the cache. */
const char *readable_name(struct readable_names *names, const char *name);

/* The path of a source file as the file's debug information has it, without line breaks, tabs and
 * what is no UTF-8; borrowed. `path` must belong to an open file as well; NULL stays NULL. */
const char *readable_path(struct readable_names *names, const char *path);

/* The symbol of the function that is called by the direct call that ends before `offset_bytes` of
 * the file; NULL: there is none. */
const char *elf_called(struct elf_file *elf, uint64_t offset_bytes);

#endif
