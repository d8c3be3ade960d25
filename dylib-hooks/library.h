/* Writing the generated library: a plan, some instructions that pass it to the runtime when the
 * library is loaded and unloaded, and a dependency on the original image. No compiler and no linker
 * is needed. */
#ifndef ARGUS_HOOKS_LIBRARY_H
#define ARGUS_HOOKS_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"
#include "base/vec.h"
#include "plan.h"

struct library_options {
    enum hook_arch arch;
    const char *own_name;     /* its soname or install name */
    const char *original;     /* the name by which it loads the original; NULL: none (a program) */
    const char *runtime;      /* the runtime: file name, or install name */
    const char *runtime_path; /* the folder with it; NULL: on the loader's path */
    const char *const *versions; /* ELF, in place of an original: its symbol versions,
                                    NULL-terminated; NULL: none */
    const uint8_t *plan;
    size_t plan_bytes;
};

struct library_bytes {
    VEC(uint8_t) bytes;
};

struct argus_error *elf_library_make(const struct library_options *options,
                                     struct library_bytes *ret);
struct argus_error *macho_library_make(const struct library_options *options,
                                       struct library_bytes *ret);

#endif
