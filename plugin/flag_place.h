/* Where a data flag is, from what the user wrote: PID ADDRESS, or PID IMAGE SYMBOL[+OFFSET]. */
#ifndef ARGUS_PLUGIN_FLAG_PLACE_H
#define ARGUS_PLUGIN_FLAG_PLACE_H

#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"

struct flag_place {
    uint64_t address;
    uint64_t size_bytes; /* of the variable; 0: not known */
    char label[200];     /* "flag in libfoo.so+4" */
};

/* `text` is an address or a number: "0x7f…", "4096"; USAGE otherwise. */
struct argus_error *flag_place_number(const char *what, const char *text, uint64_t *ret);

/* SYMBOL may be an address in the file ("0x4010"), for programs without symbols. Of a thread-local variable the copy of thread `tid`.
 * NOT_FOUND names what comes close. */
struct argus_error *flag_place_symbol(uint32_t pid, uint32_t tid, const char *image,
                                      const char *symbol, struct flag_place *ret);

#endif
