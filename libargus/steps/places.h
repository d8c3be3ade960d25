/* What lies at an address of a stepped process: which file, which function or variable, which source line.
 *
 * A *module* is a file with all its mappings. Its own addresses, as in its symbol table, are those of the process less `base`. What
 * lies between its first and last byte in memory is the module's, mapped from the file or not (.bss). Files that are gone, or
 * are others by now (by build id), give names of the form image+offset.
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
    struct elf_file *elf; /* owned; NULL: gone, or another one by now */
    bool is_stale;        /* another one by now */
    bool differs;         /* from the other run's of the same name */
    uint32_t image;       /* of the step file, its first */
};

struct places {
    const struct argus_steps *steps; /* borrowed */
    VEC(struct module) modules;      /* by base */
};

struct argus_error *places_create(const struct argus_steps *steps, struct places **ret);
void places_destroy(struct places *places);

/* Marks in both the modules of one name whose build ids differ. */
void places_compare(struct places *left, struct places *right);

/* The module that has `address`; NULL: none. */
const struct module *places_module(const struct places *places, uint64_t address);

/* The function at `address`, as the linker calls it, and the offset into it; NULL: not known. */
const char *places_function(const struct places *places, uint64_t address, uint64_t *ret_offset);

/* Source file and line; NULL: not known. */
const char *places_line(const struct places *places, uint64_t address, uint32_t *ret_line);

#endif
