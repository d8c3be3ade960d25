#include "base/idmap.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum { FIRST_SLOTS = 64, MOST_SLOTS_SHIFT = 31 };

/* The same for all maps of this process, chosen by the first: an analysis makes some sixty maps. */
static uint64_t random_multiplier(void)
{
    static _Atomic uint64_t chosen; /* 0: not yet */
    uint64_t random = atomic_load(&chosen), unset = 0;
    if (random)
        return random;
    /* Where a sandbox forbids getentropy(), the hash works, but a file can be made to collide. */
    if (getentropy(&random, sizeof(random)))
        random = 0x9e3779b97f4a7c15u;
    random |= 1;
    return atomic_compare_exchange_strong(&chosen, &unset, random) ? random : unset;
}

static bool grow(struct idmap *map)
{
    size_t slots = map->slots ? (map->mask + 1) * 2 : FIRST_SLOTS;
    if (slots >> MOST_SLOTS_SHIFT) /* the hash has 32 bits */
        return false;
    struct idmap grown = {
        .slots = calloc(slots, sizeof(*grown.slots)),
        .count = map->count,
        .mask = slots - 1,
        .multiplier = map->slots ? map->multiplier : random_multiplier(),
    };
    if (!grown.slots)
        return false;
    for (size_t i = 0; map->slots && i <= map->mask; i++)
        if (map->slots[i].used)
            *idmap_slot(&grown, map->slots[i].id) = map->slots[i];
    free(map->slots);
    *map = grown;
    return true;
}

bool idmap_put(struct idmap *map, uint64_t id, uint32_t number)
{
    if ((!map->slots || map->count >= (map->mask + 1) / 2) && !grow(map))
        return false;
    struct idmap_slot *slot = idmap_slot(map, id);
    map->count += !slot->used;
    *slot = (struct idmap_slot){.id = id, .number = number, .used = 1};
    return true;
}

void idmap_clear(struct idmap *map)
{
    if (map->slots)
        memset(map->slots, 0, (map->mask + 1) * sizeof(*map->slots));
    map->count = 0;
}

void idmap_deinit(struct idmap *map)
{
    free(map->slots);
    *map = (struct idmap){0};
}
