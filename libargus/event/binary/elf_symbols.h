/* Where functions are in an ELF file, by name: for probes. Symbols come from .symtab, else .dynsym, and from a separate debug
 * file if there is one (libdw), so static functions are found where the machine has debug symbols. */
#ifndef ARGUS_EVENT_ELF_SYMBOLS_H
#define ARGUS_EVENT_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A function: that of `name`, or the one whose address the data at `name` + `data_offset` holds when the file is loaded (as
 * in exported tables of functions). */
struct elf_wanted {
    const char *name; /* without a version; borrowed */
    uint64_t data_offset;
    bool is_pointer;
    bool found;           /* result */
    uint64_t file_offset; /* result: of the function's first instruction */
};

/* Looks up `count` functions in the file `fd`, borrowed; `path` is where it came from, for finding its debug file. False: it is no
 * shared library or program of this machine. */
bool elf_symbols_find(int fd, const char *path, struct elf_wanted *wanted, size_t count);

/* Tells every function of the file, also several names of one. `name` is borrowed for the call; false from `visit` ends it. */
typedef bool (*elf_symbol_visit)(void *context, const char *name, uint64_t file_offset);
bool elf_symbols_each(int fd, const char *path, elf_symbol_visit visit, void *context);

#endif
