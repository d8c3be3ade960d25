#include "linux/snapshot_store.h"

#include <string.h>

/* A stored snapshot: these words, its registers, the nonzero words of its stack, and their
 * positions, four 16-bit positions per word. */
enum { WORD_THREAD, WORD_TICKS, WORD_STACK, WORD_COUNTS, WORD_REGISTERS };

#define PLACES_OF_WORD 4u
#define MOST_PLACES    65536u

void snapshot_store_init(struct snapshot_store *store, size_t bytes)
{
    *store = (struct snapshot_store){.most_words = bytes / sizeof(uint64_t) / 2};
}

static void generation_deinit(struct snapshot_generation *generation)
{
    idmap_deinit(&generation->by_id);
    vec_deinit(&generation->words);
    *generation = (struct snapshot_generation){0};
}

void snapshot_store_deinit(struct snapshot_store *store)
{
    generation_deinit(&store->young);
    generation_deinit(&store->old);
}

static uint64_t stack_word(const struct argus_snapshot *snapshot, size_t place)
{
    uint64_t word;
    memcpy(&word, snapshot->stack + place * sizeof(word), sizeof(word));
    return word;
}

static size_t count_words(const struct argus_snapshot *snapshot)
{
    size_t count = 0;
    for (size_t i = 0; i < snapshot->stack_bytes / sizeof(uint64_t); i++)
        count += stack_word(snapshot, i) != 0;
    return count;
}

static size_t entry_words(size_t registers, size_t count)
{
    return WORD_REGISTERS + registers + count + (count + PLACES_OF_WORD - 1) / PLACES_OF_WORD;
}

static void fill(const struct argus_snapshot *snapshot, size_t count, uint64_t *ret)
{
    uint64_t *values = ret + WORD_REGISTERS + snapshot->register_count, *places = values + count;
    memset(ret, 0, entry_words(snapshot->register_count, count) * sizeof(*ret));
    ret[WORD_THREAD] = snapshot->pid << 32 | (uint32_t)snapshot->tid;
    ret[WORD_TICKS] = snapshot->ticks;
    ret[WORD_STACK] = (uint64_t)snapshot->end << 32 | snapshot->stack_bytes;
    ret[WORD_COUNTS] = (uint64_t)snapshot->register_count << 32 | count;
    memcpy(ret + WORD_REGISTERS, snapshot->registers,
           snapshot->register_count * sizeof(*snapshot->registers));
    for (size_t i = 0, kept = 0; kept < count; i++) {
        uint64_t word = stack_word(snapshot, i);
        if (!word)
            continue;
        values[kept] = word;
        places[kept / PLACES_OF_WORD] |= (uint64_t)i << 16 * (kept % PLACES_OF_WORD);
        kept++;
    }
}

bool snapshot_store_put(struct snapshot_store *store, const struct argus_snapshot *snapshot)
{
    struct snapshot_generation *young = &store->young;
    size_t count = count_words(snapshot);
    size_t words = entry_words(snapshot->register_count, count);
    if (snapshot->stack_bytes / sizeof(uint64_t) > MOST_PLACES || words > store->most_words ||
        idmap_get(&young->by_id, snapshot->id) != IDMAP_NONE)
        return true;
    if (young->words.length + words > store->most_words) {
        generation_deinit(&store->old);
        store->old = *young;
        *young = (struct snapshot_generation){0};
    }
    if (!vec_reserve(&young->words, words) ||
        !idmap_put(&young->by_id, snapshot->id, (uint32_t)young->words.length))
        return false;
    fill(snapshot, count, young->words.data + young->words.length);
    young->words.length += words;
    return true;
}

static void unfold(const uint64_t *words, uint8_t *stack, struct argus_snapshot *ret)
{
    size_t count = (uint32_t)words[WORD_COUNTS];
    ret->pid = words[WORD_THREAD] >> 32;
    ret->tid = (uint32_t)words[WORD_THREAD];
    ret->ticks = words[WORD_TICKS];
    ret->end = (enum argus_snapshot_end)(words[WORD_STACK] >> 32);
    ret->stack_bytes = (uint32_t)words[WORD_STACK];
    ret->register_count = (uint32_t)(words[WORD_COUNTS] >> 32);
    ret->stack = stack;
    memcpy(ret->registers, words + WORD_REGISTERS, ret->register_count * sizeof(*ret->registers));
    const uint64_t *values = words + WORD_REGISTERS + ret->register_count, *places = values + count;
    memset(stack, 0, ret->stack_bytes);
    for (size_t i = 0; i < count; i++) {
        size_t place = places[i / PLACES_OF_WORD] >> 16 * (i % PLACES_OF_WORD) & 0xffff;
        memcpy(stack + place * sizeof(uint64_t), &values[i], sizeof(uint64_t));
    }
}

bool snapshot_store_find(const struct snapshot_store *store, uint64_t id, uint8_t *stack,
                         size_t room, struct argus_snapshot *ret)
{
    const struct snapshot_generation *generations[] = {&store->young, &store->old};
    for (size_t i = 0; i < 2; i++) {
        uint32_t at = idmap_get(&generations[i]->by_id, id);
        if (at == IDMAP_NONE)
            continue;
        const uint64_t *words = generations[i]->words.data + at;
        if ((uint32_t)words[WORD_STACK] > room)
            continue;
        *ret = (struct argus_snapshot){.id = id};
        unfold(words, stack, ret);
        return true;
    }
    return false;
}
