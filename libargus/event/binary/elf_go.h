/* The table of functions that every Go program carries for its own stack traces, also when it is
 * stripped: names, lines, and inlined functions. Go 1.18 and later, 64-bit.
 */
#ifndef ARGUS_EVENT_ELF_GO_H
#define ARGUS_EVENT_ELF_GO_H

#include "event/binary/elf_inlines.h"

struct elf_go;

/* Finds the table. NULL: the file has none, or memory ran out. Borrows `file`, and the texts below
 * are borrowed from it. */
struct elf_go *elf_go_create(const struct elf_file *file);
void elf_go_destroy(struct elf_go *go);

/* The name of the function that covers `address`, and its start; NULL: none. */
const char *elf_go_function(const struct elf_go *go, uint64_t address, uint64_t *ret_start);
/* The function that covers `address`, up to the next one. False: none. */
bool elf_go_range(const struct elf_go *go, uint64_t address, uint64_t *ret_start,
                  uint64_t *ret_bytes);
/* The source file and line of `address`; NULL: unknown. */
const char *elf_go_line(const struct elf_go *go, uint64_t address, uint32_t *ret_line);
/* As elf_file_inlines(). */
size_t elf_go_inlines(const struct elf_go *go, uint64_t address,
                      struct elf_inline ret[ELF_INLINES_MAX]);

#endif
