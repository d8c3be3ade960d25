/* Describes an address of a stepped process: the file, the function or variable, the source line.
 *
 * A *module* is a file with all its mappings. Its own addresses, as in its symbol table, are the
 * process's addresses minus `base`. Everything between its first and last byte in memory belongs to
 * the module, even if not mapped from the file (.bss). For files that were deleted or replaced (by
 * build ID), names have the form image+offset.
 */
#ifndef ARGUS_STEPS_PLACES_H
#define ARGUS_STEPS_PLACES_H

#include "argus/steps.h"
#include "base/vec.h"
#include "event/binary/elf_file.h"

struct module {
    const char *path; /* borrowed from the step file */
    const char *name; /* its last part */
    uint64_t base, end;
    struct elf_file *elf; /* owned; NULL: deleted or replaced */
    bool is_stale;        /* replaced by another file */
    bool differs;         /* from the module with the same name in the other run */
    uint32_t image;       /* index of its first image in the step file */
};

struct places {
    const struct argus_steps *steps; /* borrowed */
    VEC(struct module) modules;      /* by base */
};

struct argus_error *places_create(const struct argus_steps *steps, struct places **ret);
void places_destroy(struct places *places);

/* Marks modules of both runs that have the same name and different build IDs. */
void places_compare(struct places *left, struct places *right);

/* The module that contains `address`; NULL: none. */
const struct module *places_module(const struct places *places, uint64_t address);

/* The function at `address`, its mangled name, and the offset into it; NULL: unknown. */
const char *places_function(const struct places *places, uint64_t address, uint64_t *ret_offset);

/* Source file and line; NULL: unknown. */
const char *places_line(const struct places *places, uint64_t address, uint32_t *ret_line);

#endif
