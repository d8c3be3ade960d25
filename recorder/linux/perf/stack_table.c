/* Two generations: every stack that is read or added goes into the young one. When that is full, it
 * becomes the old one, and the previous old one is dropped. So stacks in use stay, and the table
 * needs no list ordered by use.
 */
#include "linux/perf/stack_table.h"

#include <string.h>

#include "argus/trace.h"
#include "base/idmap.h"
#include "base/vec.h"

#define GENERATION_STACKS 65536u

struct generation {
    struct idmap at;     /* id → index into `words` */
    VEC(uint64_t) words; /* number of frames, the frames, and so on */
};

struct stack_table {
    struct generation young, old;
};

struct stack_table *stack_table_create(void)
{
    return calloc(1, sizeof(struct stack_table));
}

static void generation_deinit(struct generation *generation)
{
    idmap_deinit(&generation->at);
    vec_deinit(&generation->words);
}

void stack_table_destroy(struct stack_table *table)
{
    if (!table)
        return;
    generation_deinit(&table->young);
    generation_deinit(&table->old);
    free(table);
}

static uint64_t hash_frames(const uint64_t *frames, size_t count)
{
    uint64_t hash = 1;
    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ frames[i]) * 0x9e3779b97f4a7c15ull;
        hash ^= hash >> 32;
    }
    return hash | 1ull << 63;
}

static void grow_old(struct stack_table *table)
{
    struct generation forgotten = table->old;
    table->old = table->young;
    table->young = forgotten;
    idmap_clear(&table->young.at);
    table->young.words.length = 0;
}

static bool generation_add(struct generation *generation, uint64_t id, const uint64_t *frames,
                           size_t count)
{
    uint32_t at = (uint32_t)generation->words.length;
    if (!vec_reserve(&generation->words, count + 1) || !idmap_put(&generation->at, id, at))
        return false;
    generation->words.data[at] = count;
    memcpy(generation->words.data + at + 1, frames, count * sizeof(*frames));
    generation->words.length += count + 1;
    return true;
}

uint64_t stack_table_put(struct stack_table *table, const uint64_t *frames, size_t count)
{
    if (count == 0 || count > ARGUS_STACK_MAX_FRAMES)
        return 0;
    uint64_t id = hash_frames(frames, count);
    if (idmap_get(&table->young.at, id) != IDMAP_NONE)
        return id;
    if (table->young.at.count >= GENERATION_STACKS)
        grow_old(table);
    return generation_add(&table->young, id, frames, count) ? id : 0;
}

static size_t generation_get(const struct generation *generation, uint64_t id, uint64_t *ret_frames)
{
    uint32_t at = idmap_get(&generation->at, id);
    if (at == IDMAP_NONE)
        return 0;
    const uint64_t *words = generation->words.data + at;
    memcpy(ret_frames, words + 1, words[0] * sizeof(*ret_frames));
    return words[0];
}

size_t stack_table_get(const struct stack_table *table, uint64_t id, uint64_t *ret_frames)
{
    size_t count = generation_get(&table->young, id, ret_frames);
    return count ? count : generation_get(&table->old, id, ret_frames);
}
