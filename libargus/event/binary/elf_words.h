/* Words of an ELF file's data, as they are when it has been loaded. */
#ifndef ARGUS_EVENT_ELF_WORDS_H
#define ARGUS_EVENT_ELF_WORDS_H

#include "event/binary/elf_file.h"

/* Whether no code can change the word: its segment is not writable, or no longer after the dynamic
 * linker has filled it (PT_GNU_RELRO). */
bool elf_word_is_constant(const struct elf_file *file, uint64_t address);

/* Whether the dynamic linker adds nothing to the file's own pointers: a program of a fixed address.
 */
bool elf_words_are_final(const struct elf_file *file);

/* The pointer that the word at `address` begins with, as an address of the file. False: another
 * file decides it, or the file has no such word. Costs a scan of the relocations. */
bool elf_word_pointer(const struct elf_file *file, uint64_t address, uint64_t *ret);

/* Whether the dynamic linker calls the function at `address` when it loads the file, as one of
 * those that give variables their first values (DT_INIT_ARRAY). */
bool elf_function_is_constructor(const struct elf_file *file, uint64_t address);

#endif
