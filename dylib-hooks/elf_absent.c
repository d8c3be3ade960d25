/* In place of elf_library.c where there is no <elf.h>: on macOS. */
#include "library.h"

struct argus_error *elf_library_make(const struct library_options *options,
                                     struct library_bytes *ret)
{
    (void)options;
    *ret = (struct library_bytes){0};
    return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                              "libraries for Linux are made on Linux: this argus-hook makes those "
                              "for macOS");
}
