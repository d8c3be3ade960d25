/* Functions that the compiler inlined at an address, by the file's debug information. */
#ifndef ARGUS_EVENT_ELF_INLINES_H
#define ARGUS_EVENT_ELF_INLINES_H

#include "event/binary/elf_file.h"

/* More are not read at one address; argus/symbols.h has a place for each. */
#define ELF_INLINES_MAX 32

/* A function that was inlined. Strings are borrowed from the file. */
struct elf_inline {
    const char *function; /* perhaps mangled */
    const char *source;   /* file of the call that was replaced by the function; NULL: not known */
    uint32_t line;        /* of that call; 0: not known */
};

/* Fills in the functions that were inlined at `address`, innermost first. Each was inlined into the
 * next one; the last one into the function that covers the address. Returns their number. */
size_t elf_file_inlines(struct elf_file *file, uint64_t address,
                        struct elf_inline ret[ELF_INLINES_MAX]);

/* The first file of split debug information that elf_file_inlines() did not find, borrowed, and the
 * number of such files. NULL: none. */
const char *elf_file_missing_split(const struct elf_file *file, size_t *ret_count);

#endif
