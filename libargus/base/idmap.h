/* A hash table from 64-bit ids to 32-bit numbers, flat and fast: stack ids, debugids.
 *
 * Open addressing with a multiplicative hash whose odd multiplier is random for each table: ids
 * come from files, and whoever made the file must not be able to make them collide. Nothing that
 * callers can see depends on the multiplier. A zeroed struct is an empty table. Not thread-safe for
 * writing; any number of readers.
 */
#ifndef ARGUS_BASE_IDMAP_H
#define ARGUS_BASE_IDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IDMAP_NONE                                                                                 \
    UINT32_MAX /* what idmap_get() returns for an id that is not there; not a valid number */

struct idmap_slot {
    uint64_t id;
    uint32_t number; /* valid if `used` */
    uint32_t used;
};

struct idmap {
    struct idmap_slot *slots; /* owned; NULL while nothing was put */
    size_t count, mask;
    uint64_t multiplier;
};

/* Sets the number of `id`; false without memory (the table is then as it was). */
bool idmap_put(struct idmap *map, uint64_t id, uint32_t number);

/* Forgets all ids, keeps the memory. */
void idmap_clear(struct idmap *map);

/* Frees the memory; the table is then empty again. */
void idmap_deinit(struct idmap *map);

/* The slot of `id`, or the free one where it belongs. The table has slots. */
static inline struct idmap_slot *idmap_slot(const struct idmap *map, uint64_t id)
{
    size_t at = (size_t)((id * map->multiplier) >> 32) & map->mask;
    while (map->slots[at].used && map->slots[at].id != id)
        at = (at + 1) & map->mask;
    return &map->slots[at];
}

static inline uint32_t idmap_get(const struct idmap *map, uint64_t id)
{
    if (!map->slots)
        return IDMAP_NONE;
    const struct idmap_slot *slot = idmap_slot(map, id);
    return slot->used ? slot->number : IDMAP_NONE;
}

#endif
