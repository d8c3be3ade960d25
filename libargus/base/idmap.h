/* A flat, fast hash table from 64-bit IDs (of stacks, debugids) to 32-bit numbers.
 *
 * Open addressing with a multiplicative hash whose odd multiplier is random: IDs come from files,
 * and a crafted file must not be able to make them collide. All tables of a process have the same
 * one, which is enough: the file was written before, and cannot know it. Nothing visible to callers
 * depends on the multiplier. A zeroed struct is an empty table. Not thread-safe for
 * writing; any number of readers.
 */
#ifndef ARGUS_BASE_IDMAP_H
#define ARGUS_BASE_IDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IDMAP_NONE                                                                                 \
    UINT32_MAX /* what idmap_get() returns for an ID that is not in the table; not a valid number */

struct idmap_slot {
    uint64_t id;
    uint32_t number; /* valid if `used` */
    uint32_t used;
};

struct idmap {
    struct idmap_slot *slots; /* owned; NULL while the table is empty */
    size_t count, mask;
    uint64_t multiplier;
};

/* Sets the number of `id`; false without memory (the table is then unchanged). */
bool idmap_put(struct idmap *map, uint64_t id, uint32_t number);

/* Removes all IDs, keeps the memory. */
void idmap_clear(struct idmap *map);

/* Frees the memory; the table is then empty again. */
void idmap_deinit(struct idmap *map);

/* The slot of `id`, or the free slot where it belongs. The table must have slots. */
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
