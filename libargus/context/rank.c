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
 *   - Where two builds have other paths, functions are compared (moved.c).
 *   - Paths that differ only above the culprit are one entry (folds.c).
 */
#include <stdlib.h>
#include <string.h>

#include "context/homes.h"
#include "context/moved.h"
#include "context/rank.h"

/* The base's side of the comparison. */
struct side {
    const struct argus_context_node *nodes;
    const struct sleeps *sleeps;
    size_t count;
    double *means;   /* owned; own means, only for ARGUS_RANK_MEAN */
    uint32_t *homes; /* owned; of the base: homes_find(); NULL without a base */
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
    } else if (report->ranking->moved) {
        pair.base_ns = report->ranking->moved[node].ns;
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

bool *rank_find_gone(const struct argus_contexts_report *report)
{
    const struct argus_context_node *nodes;
    const struct argus_ranking *ranking = report->ranking;
    size_t here = argus_contexts_nodes(report->contexts, &nodes);
    size_t count = argus_contexts_nodes(report->base, &nodes);
    bool *marks = match_find_here(ranking, here, count);
    for (size_t i = 0; marks && i < count; i++)
        marks[i] = i && !marks[i] && (!ranking->is_moved || !ranking->is_moved[i]);
    return marks;
}

struct argus_error *rank_gone_ns(const struct argus_contexts_report *report, double *ret)
{
    const struct argus_context_node *nodes;
    *ret = 0;
    if (!report->base)
        return NULL;
    size_t count = argus_contexts_nodes(report->base, &nodes);
    bool *is_gone = rank_find_gone(report);
    for (size_t i = 1; is_gone && i < count; i++)
        if (is_gone[i] && nodes[i].depth >= INFERENCE_FIRST_DEPTH)
            *ret += rank_value(&nodes[i], &report->options);
    bool good = is_gone != NULL;
    free(is_gone);
    return good ? NULL : argus_error_memory();
}

double rank_moved_ns(const struct argus_contexts_report *report)
{
    const struct argus_context_node *nodes;
    size_t count = argus_contexts_nodes(report->contexts, &nodes);
    double ns = 0;
    for (size_t i = 0; report->ranking->moved && i < count; i++)
        ns += report->ranking->moved[i].ns;
    return ns;
}

const char *rank_chance_reason(const struct argus_ranked_path *path)
{
    return path->is_minor          ? "less than a thousandth of the run's time"
           : path->chance_of_waits ? "waits for disks, pages or stops differ as much in the base"
                                   : "too few CPU samples";
}

static double blame(struct sleeper now, struct sleeper base, struct sleeper home)
{
    double there = base.node ? node_work_ns(base.node, base.estimate) : 0;
    return node_work_ns(now.node, now.estimate) - there + sleeps_excess(now, base, home);
}

/* --- costs --- */

double rank_alone(const struct argus_contexts *contexts, uint32_t node,
                  const struct argus_ranking_options *options)
{
    const struct argus_context_node *nodes;
    const struct sleeps *sleeps = &contexts->moments.waits.sleeps[options->estimate];
    argus_contexts_nodes(contexts, &nodes);
    if (options->rank == ARGUS_RANK_TOTAL)
        return (double)nodes[node].own_ns[options->estimate];
    struct sleeper none = {NULL, sleeps, ARGUS_NONE, options->estimate};
    return blame((struct sleeper){&nodes[node], sleeps, node, options->estimate}, none, none);
}

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
    uint32_t home = base->homes ? base->homes[node] : ARGUS_NONE;
    return blame((struct sleeper){here, now->sleeps, node, estimate},
                 (struct sleeper){there, base->sleeps, other, estimate},
                 (struct sleeper){home == ARGUS_NONE ? NULL : &base->nodes[home], base->sleeps,
                                  home, estimate});
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
    path.by_function = path.is_new && ranking->moved && ranking->moved[path.bottleneck].ns > 0;
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
    struct match match;
    bool good = match_init(&match, contexts, base) && match_nodes(&match, contexts, base, ret) &&
                moved_find(&match, contexts, base, options, ret);
    if (good && base)
        then.homes = homes_find(&match, contexts, base, options, ret);
    good = good && (!base || then.homes);
    match_deinit(&match);
    ret->costs = calloc(now.count + 1, sizeof(*ret->costs));
    if (options->rank == ARGUS_RANK_MEAN) {
        now.means = own_means(&now, options->estimate);
        then.means = own_means(&then, options->estimate);
        good = good && now.means && then.means;
    }
    struct argus_error *error = good && ret->costs ? NULL : argus_error_memory();
    for (size_t i = 0; !error && i < now.count; i++)
        ret->costs[i] = cost_of(&now, &then, (uint32_t)i, ret->base_node[i], options) -
                        (ret->moved ? ret->moved[i].ns : 0);
    if (!error)
        error = rank_paths(ret, &now, options);
    if (!error && options->rank != ARGUS_RANK_MEAN) {
        error = folds_make(contexts, base, options, ret);
        if (!error)
            qsort(ret->paths, ret->count, sizeof(*ret->paths), by_cost);
    }
    free(now.means);
    free(then.means);
    free(then.homes);
    if (error)
        argus_ranking_deinit(ret);
    return error;
}

void argus_ranking_deinit(struct argus_ranking *ranking)
{
    free(ranking->paths);
    free(ranking->costs);
    free(ranking->base_node);
    free(ranking->moved);
    free(ranking->is_moved);
    free(ranking->like);
    *ranking = (struct argus_ranking){0};
}
