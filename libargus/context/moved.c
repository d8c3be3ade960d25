/* Another build of a program or library has other paths: a compiler inlines other functions, and a
 * new version has other callers. Then most paths of the base are not in the trace, though the same
 * functions are at work, and the answer would be the whole time of the run. So if the traces have
 * other builds of some file, the paths that only one of them has are compared by function: what a
 * function took in those of the base is subtracted from its time in those of the trace, each of
 * which gets a share in proportion to its time. Functions without names cannot be recognized in
 * another build. All of a file's are compared as one.
 */
#include "context/moved.h"

#include <stdlib.h>

#include "context/rank.h"

/* One trace's paths that the other lacks. */
struct part {
    const struct argus_contexts *contexts;
    const struct argus_context_node *nodes;
    size_t count;
    uint32_t *program; /* owned; by node: its program's node in the base; ARGUS_NONE: none */
    bool is_base;
};

struct sums {
    const struct match *match;
    const struct argus_ranking_options *options;
    size_t base_functions;
    struct idmap by_group; /* program << 32 | function → sum */
    VEC(struct argus_moved) base;
    VEC(double) now_ns;
    VEC(uint32_t) longest; /* node with the longest total; ARGUS_NONE: none */
    bool no_memory;
};

static bool part_init(struct part *part, const struct argus_contexts *contexts,
                      const uint32_t *base_node)
{
    part->contexts = contexts;
    part->is_base = !base_node;
    part->count = argus_contexts_nodes(contexts, &part->nodes);
    part->program = malloc((part->count + 1) * sizeof(*part->program));
    for (uint32_t i = 0; part->program && i < part->count; i++)
        part->program[i] = !i                         ? ARGUS_NONE
                           : part->nodes[i].depth > 1 ? part->program[part->nodes[i].parent]
                           : part->is_base            ? i
                                                      : base_node[i];
    return part->program != NULL;
}

/* The sum that a node counts for; IDMAP_NONE: none. */
static uint32_t sum_of(struct sums *sums, const struct part *part, uint32_t node)
{
    uint32_t function = part->nodes[node].function, pair;
    if (part->nodes[node].depth < INFERENCE_FIRST_DEPTH || part->program[node] == ARGUS_NONE)
        return IDMAP_NONE;
    if (match_is_nameless(sums->match, part->contexts, function, part->is_base, &pair))
        function = (uint32_t)sums->base_functions + pair;
    else
        function = part->is_base ? sums->match->base_functions[function]
                                 : sums->match->functions[function];
    if (function == ARGUS_NONE)
        return IDMAP_NONE;
    uint64_t key = (uint64_t)part->program[node] << 32 | function;
    uint32_t sum = idmap_get(&sums->by_group, key);
    if (sum != IDMAP_NONE || !part->is_base)
        return sum;
    sum = (uint32_t)sums->base.length;
    bool good = vec_push(&sums->base, (struct argus_moved){0}) && vec_push(&sums->now_ns, 0.0) &&
                vec_push(&sums->longest, ARGUS_NONE) && idmap_put(&sums->by_group, key, sum);
    sums->no_memory |= !good;
    return good ? sum : IDMAP_NONE;
}

static double value_of(const struct sums *sums, const struct part *part, uint32_t node)
{
    double ns = rank_alone(part->contexts, node, sums->options);
    return ns > 0 ? ns : 0;
}

static uint64_t total_ns(const struct sums *sums, const struct part *part, uint32_t node)
{
    return part->nodes[node].total_ns[sums->options->estimate];
}

/* Adds the nodes of the base that the trace lacks. */
static void add_base(struct sums *sums, const struct part *base, const bool *is_here)
{
    for (uint32_t i = 1; i < base->count; i++) {
        uint32_t sum = is_here[i] ? IDMAP_NONE : sum_of(sums, base, i);
        if (sum == IDMAP_NONE)
            continue;
        struct argus_moved *moved = &sums->base.data[sum];
        moved->ns += value_of(sums, base, i);
        moved->own_ns += (double)base->nodes[i].own_ns[sums->options->estimate];
        moved->cpu_ns += (double)node_cpu_ns(&base->nodes[i], sums->options->estimate);
        moved->variance += base->nodes[i].variance;
    }
}

/* Divides the sums of the base among the nodes that it lacks. */
static void divide(struct sums *sums, const struct part *now, struct argus_ranking *ret)
{
    for (uint32_t i = 1; i < now->count; i++) {
        uint32_t sum = ret->base_node[i] == ARGUS_NONE ? sum_of(sums, now, i) : IDMAP_NONE;
        if (sum == IDMAP_NONE)
            continue;
        sums->now_ns.data[sum] += value_of(sums, now, i);
        uint32_t longest = sums->longest.data[sum];
        if (longest == ARGUS_NONE || total_ns(sums, now, i) > total_ns(sums, now, longest))
            sums->longest.data[sum] = i;
    }
    for (uint32_t i = 1; i < now->count; i++) {
        uint32_t sum = ret->base_node[i] == ARGUS_NONE ? sum_of(sums, now, i) : IDMAP_NONE;
        if (sum == IDMAP_NONE || sums->now_ns.data[sum] <= 0)
            continue;
        const struct argus_moved *all = &sums->base.data[sum];
        double share = value_of(sums, now, i) / sums->now_ns.data[sum];
        ret->moved[i] = (struct argus_moved){all->ns * share, all->own_ns * share,
                                             all->cpu_ns * share, all->variance * share};
    }
}

/* Which nodes of the base were divided, and which node each of them counts for. */
static void mark(struct sums *sums, const struct part *base, const bool *is_here,
                 struct argus_ranking *ret)
{
    for (uint32_t i = 1; i < base->count; i++) {
        uint32_t sum = is_here[i] ? IDMAP_NONE : sum_of(sums, base, i);
        ret->is_moved[i] = sum != IDMAP_NONE && sums->now_ns.data[sum] > 0;
        ret->like[i] = sum == IDMAP_NONE ? ARGUS_NONE : sums->longest.data[sum];
    }
}

static bool compare(struct sums *sums, struct part *now, struct part *base,
                    struct argus_ranking *ret)
{
    bool *is_here = match_find_here(ret, now->count, base->count);
    ret->moved = calloc(now->count + 1, sizeof(*ret->moved));
    ret->is_moved = calloc(base->count + 1, sizeof(*ret->is_moved));
    ret->like = calloc(base->count + 1, sizeof(*ret->like));
    bool good = is_here && ret->moved && ret->is_moved && ret->like;
    if (good)
        add_base(sums, base, is_here);
    good = good && !sums->no_memory;
    if (good) {
        divide(sums, now, ret);
        mark(sums, base, is_here, ret);
    }
    free(is_here);
    return good;
}

static bool has_other_build(const struct match *match)
{
    for (size_t i = 0; i < match->pairs.length; i++)
        if (match->pairs.data[i].is_other)
            return true;
    return false;
}

bool moved_find(const struct match *match, const struct argus_contexts *contexts,
                const struct argus_contexts *base, const struct argus_ranking_options *options,
                struct argus_ranking *ret)
{
    const struct argus_context_function *functions;
    if (!base || options->rank == ARGUS_RANK_MEAN || !has_other_build(match))
        return true;
    struct sums sums = {.match = match, .options = options};
    struct part now = {0}, then = {0};
    sums.base_functions = argus_contexts_functions(base, &functions);
    bool good = part_init(&now, contexts, ret->base_node) && part_init(&then, base, NULL) &&
                compare(&sums, &now, &then, ret);
    free(now.program);
    free(then.program);
    idmap_deinit(&sums.by_group);
    vec_deinit(&sums.base);
    vec_deinit(&sums.now_ns);
    vec_deinit(&sums.longest);
    return good;
}
