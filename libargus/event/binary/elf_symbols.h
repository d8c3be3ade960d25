/* Finds functions in an ELF file by name, for probes. Symbols come from .symtab, else .dynsym, and
 * from a separate debug file if there is one (libdw). So static functions are found if debug
 * symbols are installed. */
#ifndef ARGUS_EVENT_ELF_SYMBOLS_H
#define ARGUS_EVENT_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A function: the one called `name`, or the one whose address is stored at the variable `name` +
 * `data_offset` when the file is loaded (as in exported tables of functions). */
struct elf_wanted {
    const char *name; /* without a version; borrowed */
    uint64_t data_offset;
    bool is_pointer;
    bool found;           /* result */
    uint64_t file_offset; /* result: of the function's first instruction */
};

/* Looks up `count` functions in the file `fd`, borrowed; `path` is its path, needed to find its
 * debug file. False: it is not a shared library or program of this machine's architecture. */
bool elf_symbols_find(int fd, const char *path, struct elf_wanted *wanted, size_t count);

/* Calls `visit` for every function of the file, once per name. `name` is borrowed for the call;
 * returning false ends the search. */
typedef bool (*elf_symbol_visit)(void *context, const char *name, uint64_t file_offset);
bool elf_symbols_each(int fd, const char *path, elf_symbol_visit visit, void *context);

#endif
