/* Between two moments with different stacks, the paper's conservative inference gives all time to
 * the functions that both stacks have, because only those certainly continued. So a function that
 * is never in two consecutive samples gets no time at all. For example, a comparison function that
 * is called often and takes a third of a sampling interval gets none, and its caller gets all.
 *
 * But unlike a wait or a system call, a sample comes at a time that is independent of the program:
 * every sample stands for the same amount of time, as in every profiler. A *stretch* is the time in
 * which a thread ran its own code, from one moment that is not a sample to the next. All stretches
 * in which the same functions continued are pooled, including those without a sample (most are
 * shorter than the sampling interval). The pool's time is divided according to its samples. The
 * result is sampled_ns; the continuing functions lose the same amount, to the nanosecond. The
 * inferred times do not change, nor does the paper's own order, `--rank mean`. Pools without a
 * sample are left unchanged.
 *
 * A stretch also begins with a sample of a thread that was not in one, and ends with its last
 * sample before the thread ends or records are missing: a program that only computes has no other
 * moments.
 *
 * A thread may leave its CPU without a recorded stack, e.g. if it is preempted and there is no
 * --call-stacks. That time is no function's work. It stays with the function that continued, and
 * waits_note() notes it as a wait there.
 */
#include "context/sampled.h"

void sampled_drop(struct sampled_stretch *stretch)
{
    stretch->runs = false;
    stretch->samples.length = 0;
    stretch->out_ns = stretch->off_ns = 0;
}

void sampled_begin(struct sampled_stretch *stretch, uint32_t node, uint64_t time_ns)
{
    sampled_drop(stretch);
    stretch->runs = node != ARGUS_NONE;
    stretch->first = node;
    stretch->last_ns = time_ns;
}

void sampled_out(struct sampled_stretch *stretch, uint64_t time_ns)
{
    stretch->out_ns = time_ns;
}

void sampled_in(struct sampled_stretch *stretch, uint64_t time_ns)
{
    if (stretch->out_ns)
        stretch->off_ns += time_ns - stretch->out_ns;
    stretch->out_ns = 0;
}

static struct sampled_pool *pool_of(struct sampled *sampled, uint32_t node)
{
    uint32_t pool = idmap_get(&sampled->pool_of_node, node);
    if (pool != IDMAP_NONE)
        return &sampled->pools.data[pool];
    pool = (uint32_t)sampled->pools.length;
    struct sampled_pool made = {.node = node};
    if (vec_push(&sampled->pools, made) && idmap_put(&sampled->pool_of_node, node, pool))
        return &sampled->pools.data[pool];
    sampled->no_memory = true;
    return NULL;
}

static void add_hit(struct sampled *sampled, struct sampled_pool *pool, uint32_t node)
{
    uint32_t index = (uint32_t)(pool - sampled->pools.data);
    uint64_t key = (uint64_t)index << 32 | node;
    uint32_t hit = idmap_get(&sampled->hit_of, key);
    if (hit == IDMAP_NONE) {
        struct sampled_hit made = {.pool = index, .node = node};
        hit = (uint32_t)sampled->hits.length;
        if (!vec_push(&sampled->hits, made) || !idmap_put(&sampled->hit_of, key, hit)) {
            sampled->no_memory = true;
            return;
        }
    }
    sampled->hits.data[hit].count++;
    pool->samples++;
}

/* Takes the time from the functions that continued from `before` to `point`. */
static void take_back(struct tree *tree, uint32_t before, const struct sampled_point *point)
{
    uint32_t common = tree_common(tree, before, point->node);
    tree->nodes.data[common].sampled_ns -= (int64_t)point->ran_ns;
}

/* The stretch ends with `last`. */
static void pool_stretch(struct sampled *sampled, struct tree *tree,
                         struct sampled_stretch *stretch, const struct sampled_point *last)
{
    size_t count = stretch->samples.length;
    struct sampled_pool *pool = pool_of(sampled, tree_common(tree, stretch->first, last->node));
    if (!pool)
        return;
    uint32_t before = stretch->first;
    for (size_t i = 0; i <= count; i++) {
        const struct sampled_point *point = i < count ? &stretch->samples.data[i] : last;
        if (count)
            take_back(tree, before, point);
        pool->ran_ns += point->ran_ns;
        pool->unseen_ns += count ? 0 : point->ran_ns;
        before = point->node;
        if (i < count)
            add_hit(sampled, pool, before);
    }
}

void sampled_moment(struct sampled *sampled, struct tree *tree, struct sampled_stretch *stretch,
                    struct sampled_point moment, uint64_t time_ns, bool is_sample)
{
    if (!stretch->runs)
        return;
    uint64_t passed_ns = time_ns - stretch->last_ns;
    moment.ran_ns = stretch->off_ns < passed_ns ? passed_ns - stretch->off_ns : 0;
    stretch->last_ns = time_ns;
    stretch->off_ns = 0;
    if (is_sample) {
        sampled->no_memory |= !vec_push(&stretch->samples, moment);
        return;
    }
    pool_stretch(sampled, tree, stretch, &moment);
    sampled_drop(stretch);
}

void sampled_end(struct sampled *sampled, struct tree *tree, struct sampled_stretch *stretch)
{
    size_t count = stretch->samples.length;
    if (stretch->runs && count) {
        struct sampled_point last = {.node = stretch->samples.data[count - 1].node};
        pool_stretch(sampled, tree, stretch, &last);
    }
    sampled_drop(stretch);
}

/* The part of the pool's time for `count` samples. All parts add up to that time. */
static uint64_t share_of(struct sampled_pool *pool, uint32_t count)
{
    uint64_t rest = pool->ran_ns % pool->samples, before = rest * pool->given / pool->samples;
    pool->given += count;
    return pool->ran_ns / pool->samples * count + rest * pool->given / pool->samples - before;
}

void sampled_finish(struct sampled *sampled, struct tree *tree)
{
    struct argus_context_node *nodes = tree->nodes.data;
    for (size_t i = 0; i < sampled->pools.length; i++) {
        const struct sampled_pool *pool = &sampled->pools.data[i];
        if (pool->samples)
            nodes[pool->node].sampled_ns -= (int64_t)pool->unseen_ns;
    }
    for (size_t i = 0; i < sampled->hits.length; i++) {
        const struct sampled_hit *hit = &sampled->hits.data[i];
        struct sampled_pool *pool = &sampled->pools.data[hit->pool];
        double of_one = (double)pool->ran_ns / pool->samples;
        nodes[hit->node].sampled_ns += (int64_t)share_of(pool, hit->count);
        nodes[hit->node].variance += of_one * of_one * hit->count;
    }
}

void sampled_deinit(struct sampled *sampled)
{
    vec_deinit(&sampled->pools);
    vec_deinit(&sampled->hits);
    idmap_deinit(&sampled->pool_of_node);
    idmap_deinit(&sampled->hit_of);
}
