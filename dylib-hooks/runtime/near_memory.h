/* Memory that a jump reaches. */
#ifndef ARGUS_HOOKS_NEAR_MEMORY_H
#define ARGUS_HOOKS_NEAR_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Bits of the jump's displacement that are given: see poke.h. */
struct near_wish {
    uint32_t mask, value;
};

/* Maps fresh memory, readable and writable, and returns a place in it, with `bytes` bytes, that a jump which ends at `from` reaches, with a
 * displacement that is as wished; NULL: there is none. `*ret_pages`, `*ret_page_bytes`: the whole pages. */
uint8_t *near_memory_map(uint64_t from, size_t bytes, const struct near_wish *wish,
                         void **ret_pages, size_t *ret_page_bytes);

#endif
