/* What an ELF file says of itself and others before it runs: which libraries it is linked with, and whether it is a program. */
#ifndef ARGUS_EVENT_ELF_NEEDED_H
#define ARGUS_EVENT_ELF_NEEDED_H

#include <stdbool.h>

struct Elf; /* libelf's */

/* Whether an opened file names an interpreter: programs do, and the few libraries that can be run (libc). */
bool elf_has_interpreter(struct Elf *elf);

/* Calls `each` for the name of each library that the file at `path` is linked with (DT_NEEDED), e.g. "libm.so.6". Nothing is called
 * where the file is not there, or is no ELF file. False: `each` said so, and no more was wanted. */
bool elf_needed_read(const char *path, bool (*each)(void *context, const char *name),
                     void *context);

/* Whether the file names an interpreter, as programs do, or is linked to a fixed address. */
bool elf_needed_is_program(const char *path);

#endif
