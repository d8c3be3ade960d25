#include "steps/blocks.h"

#include <string.h>

#include "base/hash64.h"

enum {
    /* earlier positions of a block that are tried as the start of a repetition */
    REPEATS_LOOKED_AT = 16,
};

/* odd, without a pattern: base of the prefix hashes */
static const uint64_t BASE = 0x9e3779b97f4a7c15;

/* Whether a block ends with this step. */
static bool ends_block(const struct run *run, uint32_t step)
{
    uint8_t flow = run_instruction(run, step)->flow;
    bool goes_on = flow == FLOW_NEXT || flow == FLOW_SYSCALL;
    return !goes_on || !run_fell_through(run, step);
}

bool leaders_add(struct leaders *leaders, const struct run *run)
{
    bool done = idmap_put(&leaders->keys, run_key(run, 0), 1);
    for (uint32_t i = 0; done && i + 1 < run->count; i++)
        if (ends_block(run, i) && idmap_get(&leaders->keys, run_key(run, i + 1)) == IDMAP_NONE)
            done = idmap_put(&leaders->keys, run_key(run, i + 1), 1);
    return done;
}

void leaders_deinit(struct leaders *leaders)
{
    idmap_deinit(&leaders->keys);
}

static uint64_t symbol_of(const struct run *run, uint32_t step)
{
    const uint64_t parts[2] = {run_key(run, step), run_activation(run, step)->context_key};
    return hash64(7, parts, sizeof(parts));
}

/* BASE to the power `exponent`. */
static uint64_t power(uint32_t exponent)
{
    uint64_t result = 1, factor = BASE;
    for (; exponent; exponent >>= 1, factor *= factor)
        if (exponent & 1)
            result *= factor;
    return result;
}

static uint64_t range_hash(const struct blocks *blocks, size_t first, size_t length)
{
    const uint64_t *hashes = blocks->prefix_hashes.data;
    return hashes[first + length] - hashes[first] * power((uint32_t)length);
}

/* Compares the blocks themselves, because hashes can be equal by chance or on purpose. */
static bool are_equal(const struct blocks *blocks, size_t first, size_t second, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (blocks->all.data[first + i].symbol != blocks->all.data[second + i].symbol)
            return false;
    return true;
}

/* How many blocks at the end repeat the blocks before them; 0: none. */
static size_t repetition(const struct blocks *blocks)
{
    size_t length = blocks->all.length;
    uint32_t at = blocks->all.data[length - 1].before;
    for (unsigned i = 0; i < REPEATS_LOOKED_AT && at != ARGUS_NONE; i++) {
        size_t period = length - 1 - at;
        if (2 * period > length)
            return 0;
        size_t second = length - period, first = second - period;
        if (range_hash(blocks, first, period) == range_hash(blocks, second, period) &&
            are_equal(blocks, first, second, period))
            return period;
        at = blocks->all.data[at].before;
    }
    return 0;
}

static bool drop(struct blocks *blocks, size_t period)
{
    bool done = true;
    for (size_t i = 0; i < period; i++) {
        const struct block *last = &blocks->all.data[--blocks->all.length];
        done = done && idmap_put(&blocks->latest, last->symbol, last->before);
    }
    blocks->prefix_hashes.length = blocks->all.length + 1;
    if (period)
        blocks->all.data[blocks->all.length - 1].again = (uint32_t)(blocks->all.length - period);
    return done;
}

static bool append(struct blocks *blocks, struct block block)
{
    uint32_t latest = idmap_get(&blocks->latest, block.symbol);
    block.before = latest == IDMAP_NONE ? ARGUS_NONE : latest;
    uint64_t hash = blocks->prefix_hashes.data[blocks->all.length] * BASE + block.symbol;
    return vec_push(&blocks->all, block) && vec_push(&blocks->prefix_hashes, hash) &&
           idmap_put(&blocks->latest, block.symbol, (uint32_t)blocks->all.length - 1) &&
           drop(blocks, repetition(blocks));
}

struct argus_error *blocks_make(const struct run *run, const struct leaders *leaders,
                                struct blocks *ret)
{
    uint32_t first = 0;
    *ret = (struct blocks){0};
    bool done = vec_push(&ret->prefix_hashes, 0);
    for (uint32_t i = 0; done && i < run->count; i++) {
        bool ends = i + 1 == run->count || ends_block(run, i) ||
                    idmap_get(&leaders->keys, run_key(run, i + 1)) != IDMAP_NONE;
        if (!ends)
            continue;
        done = append(ret, (struct block){symbol_of(run, first), first, i, ARGUS_NONE, ARGUS_NONE});
        first = i + 1;
    }
    if (done)
        return NULL;
    blocks_deinit(ret);
    return argus_error_memory();
}

void blocks_deinit(struct blocks *blocks)
{
    vec_deinit(&blocks->all);
    vec_deinit(&blocks->prefix_hashes);
    idmap_deinit(&blocks->latest);
}
