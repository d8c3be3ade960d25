/* The paper's algorithm 3: by how much each function of a context exceeds its cost in the base, and
 * the contexts sorted by that.
 *
 * Differences from the paper, except with ARGUS_RANK_MEAN:
 *
 *   - Own times are differences of totals, not of means. A callee that is called often has a small
 *     mean, and subtracting that from its caller's leaves the caller with time that is the
 *     callee's.
 *   - Time that is not the context's own is left out (context_waits.c).
 *   - Equivalence is determined node by node. In the paper, a path that the base lacks costs the
 *     time of all its functions, even of main(), although both have main(). Here the common part of
 *     the path is compared.
 *   - Sleeps and waits that timed out count only as far as they are significantly longer than the
 *     base's mean (sleeps.c).
 *   - Paths that differ only above the culprit are one entry (folds.c).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "context/rank.h"

/* The base's side of the comparison. */
struct side {
    const struct argus_context_node *nodes;
    const struct sleeps *sleeps;
    size_t count;
    double *means; /* owned; own means, only for ARGUS_RANK_MEAN */
};

static double mean_of(const struct argus_context_node *node, enum argus_estimate estimate)
{
    return node->count ? (double)node->inferred_ns[estimate] / (double)node->count : 0;
}

/* The paper's LatencyNormalization. */
static double *own_means(const struct side *side, enum argus_estimate estimate)
{
    double *means = calloc(side->count + 1, sizeof(*means));
    for (size_t i = side->count; means && i-- > 1;) {
        double mean = mean_of(&side->nodes[i], estimate);
        means[i] += mean;
        means[side->nodes[i].parent] -= side->nodes[side->nodes[i].parent].count ? mean : 0;
    }
    return means;
}

double rank_value(const struct argus_context_node *node,
                  const struct argus_ranking_options *options)
{
    if (options->rank == ARGUS_RANK_TOTAL)
        return (double)node->own_ns[options->estimate];
    return node_work_ns(node, options->estimate) +
           (double)node->waited_ns[options->estimate][ARGUS_WAITED_SLEPT];
}

/* The cost of sleeps is not the difference of two sums, and that must be the cost. So either value
 * is raised. The paper's costs are means, which do not add up: there, the values are those of
 * ARGUS_RANK_BLAME. */
struct rank_pair rank_pair_of(const struct argus_contexts_report *report, uint32_t node)
{
    const struct argus_context_node *nodes, *base_nodes;
    uint32_t other = report->base ? report->ranking->base_node[node] : ARGUS_NONE;
    struct rank_pair pair = {0};
    argus_contexts_nodes(report->contexts, &nodes);
    pair.now_ns = rank_value(&nodes[node], &report->options);
    if (other != ARGUS_NONE) {
        argus_contexts_nodes(report->base, &base_nodes);
        pair.base_ns = rank_value(&base_nodes[other], &report->options);
    }
    if (nodes[node].depth < INFERENCE_FIRST_DEPTH || report->options.rank != ARGUS_RANK_BLAME)
        return pair;
    double cost = report->ranking->costs[node];
    if (pair.base_ns + cost < 0)
        pair.base_ns = -cost;
    pair.now_ns = pair.base_ns + cost;
    return pair;
}

double rank_total(const struct argus_contexts_report *report)
{
    const struct argus_context_node *nodes;
    size_t count = argus_contexts_nodes(report->contexts, &nodes);
    double total = 0;
    for (size_t i = 0; i < count; i++)
        total += report->ranking->costs[i];
    return total;
}

const char *rank_chance_reason(const struct argus_ranked_path *path)
{
    return path->is_minor          ? "less than a thousandth of the run's time"
           : path->chance_of_waits ? "waits for disks, pages or stops differ as much in the base"
                                   : "too few CPU samples";
}

static double blame(struct sleeper now, struct sleeper base)
{
    double there = base.node ? node_work_ns(base.node, base.estimate) : 0;
    return node_work_ns(now.node, now.estimate) - there + sleeps_excess(now, base);
}

/* --- equivalent nodes of the base --- */

/* What a function has in common with itself in another trace. */
static void key_of(const struct argus_context_function *function, char *buffer, size_t bytes)
{
    snprintf(buffer, bytes, "%s\n%s", contexts_base_name(function->image), function->name);
}

/* Function of `contexts` → the one of `base` with the same name in a file with the same name;
 * ARGUS_NONE. */
static uint32_t *match_functions(const struct argus_contexts *contexts,
                                 const struct argus_contexts *base)
{
    const struct argus_context_function *functions, *others;
    size_t count = argus_contexts_functions(contexts, &functions);
    size_t other_count = argus_contexts_functions(base, &others);
    uint32_t *match = malloc((count + 1) * sizeof(*match));
    struct strtab *keys = strtab_create();
    uint32_t *by_key = calloc(other_count + count + 2, sizeof(*by_key)); /* 1 + function */
    bool good = match && keys && by_key;
    for (size_t i = 0; good && i < other_count + count; i++) {
        const struct argus_context_function *function =
            i < other_count ? &others[i] : &functions[i - other_count];
        char key[4096];
        uint32_t id;
        key_of(function, key, sizeof(key));
        struct argus_error *error = strtab_intern(keys, key, strlen(key), &id);
        good = error == NULL;
        argus_error_destroy(error);
        if (good && i < other_count && !by_key[id])
            by_key[id] = (uint32_t)i + 1;
        if (good && i >= other_count)
            match[i - other_count] = by_key[id] ? by_key[id] - 1 : ARGUS_NONE;
    }
    strtab_destroy(keys);
    free(by_key);
    if (!good)
        free(match);
    return good ? match : NULL;
}

static void match_nodes(const struct argus_contexts *contexts, const struct argus_contexts *base,
                        const uint32_t *functions, struct argus_ranking *ret)
{
    const struct argus_context_node *nodes;
    size_t count = argus_contexts_nodes(contexts, &nodes);
    ret->base_node[0] = 0;
    for (size_t i = 1; i < count; i++) {
        uint32_t parent = ret->base_node[nodes[i].parent], function = functions[nodes[i].function];
        uint32_t found =
            parent == ARGUS_NONE || function == ARGUS_NONE
                ? IDMAP_NONE
                : idmap_get(&base->paths.tree.by_edge, (uint64_t)parent << 32 | function);
        ret->base_node[i] = found == IDMAP_NONE ? ARGUS_NONE : found;
        if (nodes[i].depth == 1)
            ret->programs_missing += found == IDMAP_NONE;
        if (nodes[i].path != ARGUS_NONE && found != IDMAP_NONE)
            ret->paths_equal += base->paths.tree.nodes.data[found].path != ARGUS_NONE;
    }
    ret->paths_of_base = (uint32_t)base->paths.tree.paths.length;
}

static bool match_base(const struct argus_contexts *contexts, const struct argus_contexts *base,
                       struct argus_ranking *ret)
{
    size_t count = contexts->paths.tree.nodes.length;
    ret->base_node = malloc((count + 1) * sizeof(*ret->base_node));
    if (!ret->base_node)
        return false;
    memset(ret->base_node, 0xff, (count + 1) * sizeof(*ret->base_node)); /* ARGUS_NONE */
    uint32_t *functions = base ? match_functions(contexts, base) : NULL;
    if (functions)
        match_nodes(contexts, base, functions, ret);
    free(functions);
    return !base || functions;
}

/* --- costs --- */

static double cost_of(const struct side *now, const struct side *base, uint32_t node,
                      uint32_t other, const struct argus_ranking_options *options)
{
    const struct argus_context_node *here = &now->nodes[node];
    const struct argus_context_node *there = other == ARGUS_NONE ? NULL : &base->nodes[other];
    enum argus_estimate estimate = options->estimate;
    if (here->depth < INFERENCE_FIRST_DEPTH)
        return 0;
    if (options->rank == ARGUS_RANK_MEAN)
        return now->means[node] - (there ? base->means[other] : 0);
    if (options->rank == ARGUS_RANK_TOTAL)
        return (double)here->own_ns[estimate] - (there ? (double)there->own_ns[estimate] : 0);
    return blame((struct sleeper){here, now->sleeps, node, estimate},
                 (struct sleeper){there, base->sleeps, other, estimate});
}

/* The cost of the path that ends at `node`: the sum of its functions' costs, and the function with
 * the highest. */
static struct argus_ranked_path add_up(const struct argus_ranking *ranking, const struct side *now,
                                       uint32_t node, bool by_the_paper)
{
    struct argus_ranked_path path = {.node = node, .bottleneck = node, .ways = 1};
    path.is_new = ranking->base_node[node] == ARGUS_NONE;
    double most = 0;
    for (uint32_t at = node; now->nodes[at].depth >= INFERENCE_FIRST_DEPTH;
         at = now->nodes[at].parent) {
        double cost = by_the_paper && path.is_new ? now->means[at] : ranking->costs[at];
        path.cost_ns += cost;
        if (at == node || cost > most) {
            most = cost;
            path.bottleneck = at;
        }
    }
    return path;
}

/* What is beyond chance comes first. */
static int class_of(const struct argus_ranked_path *path)
{
    return path->cost_ns <= 0 ? 2 : path->by_chance;
}

static int by_cost(const void *left, const void *right)
{
    const struct argus_ranked_path *a = left, *b = right;
    if (class_of(a) != class_of(b))
        return class_of(a) - class_of(b);
    if (a->cost_ns != b->cost_ns)
        return a->cost_ns > b->cost_ns ? -1 : 1;
    return a->node < b->node ? -1 : a->node > b->node;
}

/* Of all paths with the same bottleneck, keeps the most expensive. */
static size_t keep_dearest(struct argus_ranked_path *paths, size_t count, size_t nodes)
{
    uint32_t *first = calloc(nodes + 1, sizeof(*first)); /* 1 + place, by bottleneck */
    size_t kept = 0;
    for (size_t i = 0; first && i < count; i++) {
        uint32_t *place = &first[paths[i].bottleneck];
        if (*place) {
            paths[*place - 1].others++;
            continue;
        }
        paths[kept] = paths[i];
        *place = (uint32_t)++kept;
    }
    free(first);
    return first ? kept : count;
}

static struct argus_error *rank_paths(struct argus_ranking *ret, const struct side *now,
                                      const struct argus_ranking_options *options)
{
    bool *has_child = calloc(now->count + 1, sizeof(*has_child));
    ret->paths = calloc(now->count + 1, sizeof(*ret->paths));
    if (!has_child || !ret->paths) {
        free(has_child);
        return argus_error_memory();
    }
    for (size_t i = 1; i < now->count; i++)
        has_child[now->nodes[i].parent] = true;
    for (size_t i = 1; i < now->count; i++)
        if (!has_child[i] && now->nodes[i].depth >= INFERENCE_FIRST_DEPTH)
            ret->paths[ret->count++] =
                add_up(ret, now, (uint32_t)i, options->rank == ARGUS_RANK_MEAN);
    free(has_child);
    qsort(ret->paths, ret->count, sizeof(*ret->paths), by_cost);
    if (!options->every)
        ret->count = keep_dearest(ret->paths, ret->count, now->count);
    return NULL;
}

struct argus_error *argus_contexts_rank(const struct argus_contexts *contexts,
                                        const struct argus_contexts *base,
                                        const struct argus_ranking_options *options,
                                        struct argus_ranking *ret)
{
    struct side now = {0}, then = {0};
    *ret = (struct argus_ranking){0};
    now.count = argus_contexts_nodes(contexts, &now.nodes);
    now.sleeps = &contexts->moments.waits.sleeps[options->estimate];
    then.sleeps = base ? &base->moments.waits.sleeps[options->estimate] : NULL;
    then.count = base ? argus_contexts_nodes(base, &then.nodes) : 0;
    bool good = match_base(contexts, base, ret);
    ret->costs = calloc(now.count + 1, sizeof(*ret->costs));
    if (options->rank == ARGUS_RANK_MEAN) {
        now.means = own_means(&now, options->estimate);
        then.means = own_means(&then, options->estimate);
        good = good && now.means && then.means;
    }
    struct argus_error *error = good && ret->costs ? NULL : argus_error_memory();
    for (size_t i = 0; !error && i < now.count; i++)
        ret->costs[i] = cost_of(&now, &then, (uint32_t)i, ret->base_node[i], options);
    if (!error)
        error = rank_paths(ret, &now, options);
    if (!error && options->rank != ARGUS_RANK_MEAN) {
        error = folds_make(contexts, base, options, ret);
        if (!error)
            qsort(ret->paths, ret->count, sizeof(*ret->paths), by_cost);
    }
    free(now.means);
    free(then.means);
    if (error)
        argus_ranking_deinit(ret);
    return error;
}

void argus_ranking_deinit(struct argus_ranking *ranking)
{
    free(ranking->paths);
    free(ranking->costs);
    free(ranking->base_node);
    *ranking = (struct argus_ranking){0};
}
