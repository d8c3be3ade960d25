/* Allocates memory within reach of a jump. */
#ifndef ARGUS_HOOKS_NEAR_MEMORY_H
#define ARGUS_HOOKS_NEAR_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Required bits of the jump's displacement: see poke.h. */
struct near_wish {
    uint32_t mask, value;
};

/* Maps new memory, readable and writable. Returns a place of `bytes` bytes in it that a jump which
 * ends at `from` can reach with the required bits in its displacement; NULL: none found.
 * `*ret_pages`, `*ret_page_bytes`: the whole pages. */
uint8_t *near_memory_map(uint64_t from, size_t bytes, const struct near_wish *wish,
                         void **ret_pages, size_t *ret_page_bytes);

#endif
