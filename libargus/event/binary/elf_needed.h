/* What an ELF file tells without being executed: the libraries that it is linked with, and whether
 * it is a program. */
#ifndef ARGUS_EVENT_ELF_NEEDED_H
#define ARGUS_EVENT_ELF_NEEDED_H

#include <stdbool.h>

struct Elf; /* libelf's */

/* Whether an opened file names an interpreter, as programs and a few executable libraries (libc)
 * do. */
bool elf_has_interpreter(struct Elf *elf);

/* Calls `each` with the name of each library that the file at `path` is linked with (DT_NEEDED),
 * e.g. "libm.so.6". If the file does not exist or is not an ELF file, `each` is not called. False:
 * `each` returned false, which ends the search. */
bool elf_needed_read(const char *path, bool (*each)(void *context, const char *name),
                     void *context);

/* Whether the file is a program: it names an interpreter, or is linked to a fixed address. */
bool elf_needed_is_program(const char *path);

#endif
