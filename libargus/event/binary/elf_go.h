/* The table of functions that every Go program carries for its own stack traces, also when it is
 * stripped: names, lines, and inlined functions. Only of 64-bit programs: names and lines since Go
 * 1.2, inlined functions since Go 1.13. Before Go 1.18, position-independent programs have neither.
 * Tried with Go 1.19 and 1.26; the layouts before Go 1.18 only with tables that a test writes.
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
/* Whether its functions surely get arguments in registers. Go 1.17 does on x86-64, but has the
 * table of Go 1.16. */
bool elf_go_has_registers(const struct elf_go *go);
/* How far the stack pointer is below the function's return address when the instruction at
 * `address` runs. False: unknown. */
bool elf_go_stack_bytes(const struct elf_go *go, uint64_t address, uint32_t *ret);
/* The source file and line of `address`; NULL: unknown. */
const char *elf_go_line(const struct elf_go *go, uint64_t address, uint32_t *ret_line);
/* As elf_file_inlines(). */
size_t elf_go_inlines(const struct elf_go *go, uint64_t address,
                      struct elf_inline ret[ELF_INLINES_MAX]);

#endif
