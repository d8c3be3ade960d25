#include "steps/loops/code_slice_memo.h"

#include <stdlib.h>

#include "base/hash64.h"
#include "base/idmap.h"

enum {
    MOST_PATHS = 256, /* different ones */
    MOST_ENTRIES = UINT32_C(1) << 18,
    NOWHERE = UINT32_MAX, /* of `low`: it leads back to nothing that is open */
};

struct entry {
    struct slice_effect effect;
    uint32_t low; /* the outermost of `open` to which it leads back; NOWHERE: it is final */
};

struct slice_memo {
    struct idmap keys; /* → number in `entries` */
    VEC(struct entry) entries;
    VEC(uint32_t) pending; /* entries that lead back to something open */
    VEC(struct code_path) paths;
    uint32_t low; /* of what is being visited */
};

struct slice_memo *slice_memo_create(void)
{
    struct slice_memo *memo = calloc(1, sizeof(*memo));
    if (memo)
        memo->low = NOWHERE;
    return memo;
}

void slice_memo_destroy(struct slice_memo *memo)
{
    if (!memo)
        return;
    idmap_deinit(&memo->keys);
    vec_deinit(&memo->entries);
    vec_deinit(&memo->pending);
    vec_deinit(&memo->paths);
    free(memo);
}

/* What is found depends on how the function came to be executed, and on what else is followed. */
static uint64_t key_of(const struct code_slice *slice, const struct code_scope *scope,
                       uint32_t node, uint8_t reg)
{
    uint64_t state = (uint64_t)slice->control << 2 | slice->is_adding << 1 | slice->is_flat;
    uint64_t place[] = {(uint64_t)node << 8 | reg, state};
    uint64_t key = hash64(0, place, sizeof(place));
    for (; scope; scope = scope->caller) {
        uint64_t parts[] = {(uintptr_t)scope->function, (uintptr_t)scope->region, scope->head,
                            (uint64_t)scope->depth << 32 | scope->call};
        key = hash64(key, parts, sizeof(parts));
    }
    return key;
}

/* --- effects --- */

static bool is_equal(const struct code_path *a, const struct code_path *b)
{
    return code_path_is_same(a, b) && a->elements == b->elements &&
           a->size_bytes == b->size_bytes && a->is_lock == b->is_lock && a->taken_by == b->taken_by;
}

/* False: no place for it. */
static bool find_number(struct slice_memo *memo, const struct code_path *path, uint16_t *ret)
{
    size_t at = 0;
    while (at < memo->paths.length && !is_equal(&memo->paths.data[at], path))
        at++;
    *ret = (uint16_t)at;
    return at < memo->paths.length || (at < MOST_PATHS && vec_push(&memo->paths, *path));
}

/* False: the memo has no place for its paths. */
static bool take(struct code_slice *slice, struct slice_effect *ret)
{
    bool good = true;
    *ret = (struct slice_effect){.source_count = slice->source_count,
                                 .limit_count = slice->limit_count,
                                 .found = slice->found,
                                 .counts = slice->counts,
                                 .summed = slice->summed,
                                 .sums = slice->sums,
                                 .waits_for_time = slice->waits_for_time,
                                 .yields = slice->yields,
                                 .is_unknown = slice->is_unknown,
                                 .cycled = slice->cycled,
                                 .timed = slice->timed};
    for (uint32_t i = 0; good && i < slice->source_count; i++) {
        good = find_number(slice->memo, &slice->sources[i], &ret->sources[i]);
        ret->levels[i] = slice->levels[i];
    }
    for (uint32_t i = 0; good && i < slice->limit_count; i++)
        good = find_number(slice->memo, &slice->limits[i], &ret->limits[i]);
    return good;
}

static void add_sources(struct code_slice *slice, const struct slice_effect *effect)
{
    const struct slice_memo *memo = slice->memo;
    for (uint32_t i = 0; i < effect->source_count; i++)
        code_slice_add_source(slice, &memo->paths.data[effect->sources[i]], effect->levels[i]);
    for (uint32_t i = 0; i < effect->limit_count; i++)
        code_slice_add_limit(slice, &memo->paths.data[effect->limits[i]]);
}

static void add(struct code_slice *slice, const struct slice_effect *effect)
{
    add_sources(slice, effect);
    slice->found |= effect->found;
    slice->counts |= effect->counts;
    slice->summed |= effect->summed;
    slice->sums |= effect->sums;
    slice->waits_for_time |= effect->waits_for_time;
    slice->yields |= effect->yields;
    slice->is_unknown |= effect->is_unknown;
    slice->cycled |= effect->cycled;
    slice->timed |= effect->timed;
}

static void clear(struct code_slice *slice)
{
    slice->source_count = slice->limit_count = 0;
    slice->found = slice->counts = slice->waits_for_time = slice->yields = false;
    slice->is_unknown = slice->cycled = slice->timed = slice->sums = slice->summed = false;
}

/* --- visits --- */

static void reach_back(struct slice_memo *memo, uint32_t low)
{
    if (low < memo->low)
        memo->low = low;
}

void slice_memo_comes_back(const struct code_slice *slice, uint32_t index)
{
    if (slice->memo)
        reach_back(slice->memo, index);
}

/* It leads back to what is open, as is_open() finds it without a memory. */
static void come_back_to(struct code_slice *slice, uint32_t low)
{
    bool is_value = !slice->is_adding || slice->open[low].control == slice->control;
    for (uint32_t i = low; is_value && i < slice->open_count; i++)
        slice->cycled |= !slice->open[i].is_move;
    reach_back(slice->memo, low);
}

bool slice_memo_recall(struct code_slice *slice, const struct code_scope *scope, uint32_t node,
                       uint8_t reg)
{
    uint32_t number =
        slice->memo ? idmap_get(&slice->memo->keys, key_of(slice, scope, node, reg)) : IDMAP_NONE;
    if (number == IDMAP_NONE)
        return false;
    const struct entry *entry = &slice->memo->entries.data[number];
    add(slice, &entry->effect);
    if (entry->low != NOWHERE)
        come_back_to(slice, entry->low);
    return true;
}

void slice_visit_begin(struct code_slice *slice, const struct code_scope *scope, uint32_t node,
                       uint8_t reg, struct slice_visit *ret)
{
    struct slice_memo *memo = slice->memo;
    *ret = (struct slice_visit){.is_kept = false};
    if (!memo || memo->entries.length >= MOST_ENTRIES || !take(slice, &ret->before))
        return;
    ret->is_kept = true;
    ret->key = key_of(slice, scope, node, reg);
    ret->low = memo->low;
    ret->pending = (uint32_t)memo->pending.length;
    memo->low = NOWHERE;
    clear(slice);
}

static void remember(struct slice_memo *memo, uint64_t key, const struct slice_effect *effect,
                     uint32_t low)
{
    uint32_t number = (uint32_t)memo->entries.length;
    if (vec_push(&memo->entries, ((struct entry){*effect, low})) &&
        (low == NOWHERE || vec_push(&memo->pending, number)))
        (void)idmap_put(&memo->keys, key, number); /* without memory, it is followed again */
}

/* What leads back to this visit has all that it has. */
static void settle(struct slice_memo *memo, const struct slice_visit *visit,
                   const struct slice_effect *effect)
{
    for (size_t i = visit->pending; i < memo->pending.length; i++)
        memo->entries.data[memo->pending.data[i]] = (struct entry){*effect, NOWHERE};
    memo->pending.length = visit->pending;
}

/* … or leads back farther, as this visit does. */
static void lower(struct slice_memo *memo, const struct slice_visit *visit, uint32_t low)
{
    for (size_t i = visit->pending; i < memo->pending.length; i++)
        memo->entries.data[memo->pending.data[i]].low = low;
}

void slice_visit_end(struct code_slice *slice, const struct slice_visit *visit)
{
    struct slice_effect effect;
    struct slice_memo *memo = slice->memo;
    if (!visit->is_kept)
        return;
    uint32_t low = memo->low < slice->open_count ? memo->low : NOWHERE;
    bool is_whole = take(slice, &effect);
    if (!is_whole)
        effect = (struct slice_effect){.is_unknown = true};
    if (low == NOWHERE || !is_whole)
        settle(memo, visit, &effect);
    else
        lower(memo, visit, low);
    if (is_whole) {
        remember(memo, visit->key, &effect, low);
        clear(slice);
    }
    memo->low = visit->low;
    reach_back(memo, low);
    add(slice, &visit->before); /* what was found first stays first */
    if (is_whole)
        add(slice, &effect);
}
