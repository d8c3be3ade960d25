/* Finds the first place at which two runs diverge.
 *
 * Both runs are walked in parallel, block by block, with each loop written once (blocks.h). If the
 * next blocks differ, one run may just have repeated a loop that the other run left, and that it
 * also left itself at another time. So each run may continue from another execution of its current
 * block if the next blocks are then equal: the normal run from a later one (so that the walk ends),
 * the bad run from any. The runs diverge only if there is no such execution. Unlike an edit
 * distance (Myers), this needs no bound on the difference of the runs, and it finds a decision
 * rather than a number.
 */
#include "steps/align.h"

#include "steps/blocks.h"

enum { OTHER_EXECUTIONS = 256 };

struct walk {
    struct blocks blocks[2];
    VEC(uint32_t) later; /* by block of run 0: the next block with the same symbol */
    uint32_t at[2];
    uint32_t common;
};

static const struct block *block_at(const struct walk *walk, unsigned which, uint32_t at)
{
    return at < walk->blocks[which].all.length ? &walk->blocks[which].all.data[at] : NULL;
}

static bool is_same(const struct block *left, const struct block *right)
{
    return left && right && left->symbol == right->symbol;
}

static bool link_later(struct walk *walk)
{
    size_t count = walk->blocks[0].all.length;
    for (size_t i = 0; i < count; i++)
        if (!vec_push(&walk->later, ARGUS_NONE))
            return false;
    for (size_t i = 0; i < count; i++)
        if (walk->blocks[0].all.data[i].before != ARGUS_NONE)
            walk->later.data[walk->blocks[0].all.data[i].before] = (uint32_t)i;
    return true;
}

/* The index of a block where the bad run continued with `next` after some execution of its current
 * block; ARGUS_NONE: there is none. */
static uint32_t find_bad(const struct walk *walk, uint64_t symbol, const struct block *next)
{
    uint32_t at = idmap_get(&walk->blocks[1].latest, symbol);
    for (unsigned i = 0; next && i < OTHER_EXECUTIONS && at != ARGUS_NONE; i++) {
        const struct block *block = block_at(walk, 1, at);
        if (is_same(block_at(walk, 1, at + 1), next))
            return at + 1;
        if (block->again != ARGUS_NONE && is_same(block_at(walk, 1, block->again), next))
            return block->again;
        at = block->before;
    }
    return ARGUS_NONE;
}

/* Advances by one block, from executions of the two equal blocks that continue with equal
 * blocks. */
static bool go_on(struct walk *walk)
{
    uint32_t normal = walk->at[0];
    uint64_t symbol = block_at(walk, 0, normal)->symbol;
    if (is_same(block_at(walk, 0, normal + 1), block_at(walk, 1, walk->at[1] + 1))) {
        walk->at[0]++;
        walk->at[1]++;
        return true;
    }
    for (unsigned i = 0; i < OTHER_EXECUTIONS && normal != ARGUS_NONE; i++) {
        uint32_t bad = find_bad(walk, symbol, block_at(walk, 0, normal + 1));
        if (bad != ARGUS_NONE) {
            walk->at[0] = normal + 1;
            walk->at[1] = bad;
            return true;
        }
        normal = walk->later.data[normal];
    }
    return false;
}

/* The runs may have begun at different places: finds the first block of the normal run that the bad
 * run also has. */
static bool find_start(struct walk *walk)
{
    for (uint32_t i = 0; i < walk->blocks[0].all.length; i++) {
        uint32_t at = idmap_get(&walk->blocks[1].latest, walk->blocks[0].all.data[i].symbol);
        if (at == ARGUS_NONE)
            continue;
        while (block_at(walk, 1, at)->before != ARGUS_NONE)
            at = block_at(walk, 1, at)->before;
        walk->at[0] = i;
        walk->at[1] = at;
        return true;
    }
    return false;
}

/* The last step of the block at which a run diverged. For the normal run, that is the loop's last
 * iteration, after which it went another way. For the bad run, any iteration that is complete will
 * do. */
static uint32_t parting_step(const struct walk *walk, unsigned which, const struct run *run)
{
    const struct block *block = block_at(walk, which, walk->at[which]);
    if (which == 0)
        return block_at(walk, 0, walk->at[0] + 1)->first_step - 1;
    while (block->last_step + 1 == run->count && block->before != ARGUS_NONE)
        block = block_at(walk, which, block->before);
    return block->last_step;
}

static void describe(const struct walk *walk, struct run *const runs[2],
                     struct describer *const describers[2], struct argus_divergence *ret)
{
    struct argus_first_divergence *first = &ret->first;
    first->found = true;
    for (unsigned i = 0; i < 2; i++) {
        uint32_t last = parting_step(walk, i, runs[i]);
        first->steps[i] = last;
        if (last + 1 < runs[i]->count)
            first->to[i] = describe_code(describers[i], runs[i]->pcs[last + 1]);
    }
    first->last_common = describe_code(describers[1], runs[1]->pcs[first->steps[1]]);
}

static struct argus_error *make_blocks(struct run *const runs[2], struct walk *walk)
{
    struct leaders leaders = {0};
    struct argus_error *error = leaders_add(&leaders, runs[0]) && leaders_add(&leaders, runs[1])
                                    ? NULL
                                    : argus_error_memory();
    for (unsigned i = 0; i < 2 && !error; i++)
        error = blocks_make(runs[i], &leaders, &walk->blocks[i]);
    if (!error && !link_later(walk))
        error = argus_error_memory();
    leaders_deinit(&leaders);
    return error;
}

struct argus_error *align_runs(struct run *const runs[2], struct describer *normal,
                               struct describer *bad, struct argus_divergence *ret)
{
    struct walk walk = {0};
    struct describer *const describers[2] = {normal, bad};
    struct argus_error *error = make_blocks(runs, &walk);
    if (!error && find_start(&walk)) {
        walk.common = 1;
        while (go_on(&walk))
            walk.common++;
        /* otherwise the normal run ended, so the runs did not diverge */
        if (block_at(&walk, 0, walk.at[0] + 1))
            describe(&walk, runs, describers, ret);
    }
    ret->common_blocks = walk.common;
    for (unsigned i = 0; i < 2; i++) {
        ret->blocks[i] = (uint32_t)walk.blocks[i].all.length;
        blocks_deinit(&walk.blocks[i]);
    }
    vec_deinit(&walk.later);
    return error;
}
