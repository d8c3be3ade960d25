/* The place inside a function where a probe costs least. */
#ifndef ARGUS_PLUGIN_PROBE_PLACE_H
#define ARGUS_PLUGIN_PROBE_PLACE_H

#include <stddef.h>
#include <stdint.h>

#include "recorder/client/client.h"

/* How much of a function's code, and of what follows it, to pass for a complete answer. */
#define PROBE_PLACE_CODE (32 << 10)

struct probe_place {
    uint32_t offset;      /* bytes of code before it; 0: the function's first instruction */
    uint32_t stack_bytes; /* that the code before it has allocated on the stack */
};

/* `code`: the machine code of this machine, from the function's first instruction on. At the
 * result, all that `spec` reads has the values that it has when the function begins, and each call
 * of the function comes by once. Without a better place it is the first instruction. */
struct probe_place probe_place_find(const uint8_t *code, size_t bytes,
                                    const struct probe_spec *spec);

#endif
