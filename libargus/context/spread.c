/* A slow function of a real program often has many callees, and a CPU sample hits one of them: a
 * regular expression, a parser, an interpreter. Then each entry of the list is within chance, and
 * only their sum is not. So the deepest function is an entry whose callees together became slower
 * beyond chance, with the CPU time of all of them that are in no certain entry.
 *
 * The base's callees that the trace lacks count, too: which of many callees a sample hits is
 * chance, and differs from run to run. A machine that is slower everywhere makes no entry: the
 * callees must have become slower by at least half. */
#include "context/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CALLEES_PART 0.75 /* entries below a function that have so much of its cost replace it */
#define GROWTH       0.5  /* of the base's time */

struct sum {
    double cost_ns, base_ns, variance; /* of a function and its callees */
    double deeper_ns;                  /* the costs of the entries below it */
    uint32_t functions;                /* that became slower */
    bool is_listed;                    /* it is an entry, or a caller of one that stays */
};

struct spread {
    const struct argus_contexts *contexts, *base;
    const struct argus_context_node *nodes;
    const struct spread_options *options;
    struct argus_ranking *ranking;
    struct sum *sums; /* owned; by node */
    size_t count;
};

/* --- sums --- */

/* What the same function took in other contexts of the base. */
static void subtract_moved(struct sum *sum, const struct argus_moved *moved)
{
    sum->cost_ns -= moved->cpu_ns;
    sum->base_ns += moved->cpu_ns;
    sum->variance += moved->variance;
}

static void add_here(struct spread *spread)
{
    const struct argus_context_node *nodes = spread->nodes;
    for (size_t i = 1; i < spread->count; i++) {
        if (spread->options->is_counted[i] || nodes[i].depth < INFERENCE_FIRST_DEPTH)
            continue;
        double cpu_ns = (double)node_cpu_ns(&nodes[i], spread->options->estimate);
        spread->sums[i].cost_ns += cpu_ns;
        spread->sums[i].variance += nodes[i].variance;
        spread->sums[i].functions += cpu_ns > 0;
        if (spread->ranking->moved)
            subtract_moved(&spread->sums[i], &spread->ranking->moved[i]);
    }
}

/* The node that a node of the base counts for, if it has no equivalent. */
static uint32_t place_of(const struct spread *spread, uint32_t base_node, uint32_t of_caller)
{
    const uint32_t *like = spread->ranking->like;
    return like && like[base_node] != ARGUS_NONE ? like[base_node] : of_caller;
}

/* Each node of the base counts for its equivalent, or for that of its nearest caller that has one.
 * Of another build, a node of the same function counts as such. */
static bool subtract_base(struct spread *spread)
{
    const struct argus_context_node *nodes;
    size_t count = argus_contexts_nodes(spread->base, &nodes);
    uint32_t *here = calloc(count + 1, sizeof(*here)); /* node of the base → node */
    for (size_t i = 1; here && i < spread->count; i++)
        if (spread->ranking->base_node[i] != ARGUS_NONE)
            here[spread->ranking->base_node[i]] = (uint32_t)i;
    for (size_t i = 1; here && i < count; i++) {
        bool is_own = here[i] != 0;
        here[i] = is_own ? here[i] : place_of(spread, (uint32_t)i, here[nodes[i].parent]);
        if (nodes[i].depth < INFERENCE_FIRST_DEPTH || !here[i] ||
            (is_own && spread->options->is_counted[here[i]]) ||
            (spread->ranking->is_moved && spread->ranking->is_moved[i]))
            continue;
        struct sum *sum = &spread->sums[here[i]];
        double cpu_ns = (double)node_cpu_ns(&nodes[i], spread->options->estimate);
        sum->cost_ns -= cpu_ns;
        sum->base_ns += cpu_ns;
        sum->variance += nodes[i].variance;
    }
    free(here);
    return here != NULL;
}

static bool is_beyond_chance(const struct spread *spread, const struct sum *sum)
{
    return sum->cost_ns > SPREAD_CHANCE * sqrt(sum->variance) &&
           sum->cost_ns > spread->options->least_ns && sum->cost_ns >= GROWTH * sum->base_ns &&
           sum->functions > 1;
}

/* Adds each node to its caller, callees first. */
static void add_up(struct spread *spread)
{
    for (size_t i = spread->count; i-- > 1;) {
        struct sum *sum = &spread->sums[i], *caller = &spread->sums[spread->nodes[i].parent];
        if (spread->nodes[i].depth >= INFERENCE_FIRST_DEPTH && is_beyond_chance(spread, sum) &&
            sum->deeper_ns < CALLEES_PART * sum->cost_ns) {
            sum->is_listed = true;
            sum->deeper_ns = sum->cost_ns;
        }
        caller->cost_ns += sum->cost_ns;
        caller->base_ns += sum->base_ns;
        caller->variance += sum->variance;
        caller->functions += sum->functions;
        caller->deeper_ns += sum->deeper_ns;
    }
}

/* --- entries --- */

/* Leaves only the outermost one of two entries, one of which calls the other. Returns the number of
 * entries. */
static size_t leave_outermost(struct spread *spread, bool *is_entry)
{
    size_t found = 0;
    for (size_t i = 1; i < spread->count; i++) {
        bool is_inside = spread->sums[spread->nodes[i].parent].is_listed;
        is_entry[i] = spread->sums[i].is_listed && !is_inside;
        spread->sums[i].is_listed |= is_inside;
        found += is_entry[i];
    }
    return found;
}

/* Moves each entry down to its deepest callee that still has nearly all of its cost: where the cost
 * of one of many functions was added does not say that it is the slow one. */
static void move_down(struct spread *spread, const uint32_t *dearest, bool *is_entry)
{
    for (size_t i = spread->count; i-- > 1;) {
        uint32_t at = (uint32_t)i, next = dearest[i];
        double least_ns = CALLEES_PART * spread->sums[i].cost_ns;
        for (; is_entry[i] && next && spread->sums[next].cost_ns >= least_ns; next = dearest[next])
            at = is_beyond_chance(spread, &spread->sums[next]) ? next : at;
        if (at != i) {
            is_entry[i] = false;
            is_entry[at] = true;
        }
    }
}

/* After that, `is_listed` holds for the entries' functions and their callees. */
static void mark_inside(struct spread *spread, const bool *is_entry)
{
    for (size_t i = 1; i < spread->count; i++)
        spread->sums[i].is_listed = is_entry[i] || spread->sums[spread->nodes[i].parent].is_listed;
}

/* For each node, its callee with the highest cost; 0: none. */
static uint32_t *dearest_callees(const struct spread *spread)
{
    uint32_t *ret = calloc(spread->count + 1, sizeof(*ret));
    for (size_t i = 1; ret && i < spread->count; i++) {
        uint32_t *dearest = &ret[spread->nodes[i].parent];
        if (!*dearest || spread->sums[i].cost_ns > spread->sums[*dearest].cost_ns)
            *dearest = (uint32_t)i;
    }
    return ret;
}

static struct argus_ranked_path entry_of(const struct spread *spread, uint32_t node,
                                         const uint32_t *dearest)
{
    const struct sum *sum = &spread->sums[node];
    struct argus_ranked_path entry = {
        .cost_ns = sum->cost_ns,
        .bottleneck = node,
        .node = node,
        .ways = 1,
        .spread = sum->functions,
        .chance_ns = SPREAD_CHANCE * sqrt(sum->variance),
        .is_new = spread->ranking->base_node[node] == ARGUS_NONE,
    };
    entry.by_function =
        entry.is_new && spread->ranking->moved && spread->ranking->moved[node].ns > 0;
    while (dearest[entry.node])
        entry.node = dearest[entry.node];
    return entry;
}

/* Replaces the entries that are within chance and inside a new one. */
static bool replace_entries(struct spread *spread)
{
    struct argus_ranking *ranking = spread->ranking;
    bool *is_entry = calloc(spread->count + 1, sizeof(*is_entry));
    uint32_t *dearest = dearest_callees(spread);
    size_t more = is_entry ? leave_outermost(spread, is_entry) : 0, kept = 0;
    struct argus_ranked_path *paths =
        realloc(ranking->paths, (ranking->count + more + 1) * sizeof(*paths));
    ranking->paths = paths ? paths : ranking->paths;
    bool good = is_entry && dearest && paths;
    if (good) {
        move_down(spread, dearest, is_entry);
        mark_inside(spread, is_entry);
    }
    for (size_t i = 0; good && i < ranking->count; i++)
        if (!paths[i].by_chance || !spread->sums[paths[i].bottleneck].is_listed)
            paths[kept++] = paths[i];
    for (size_t i = 1; good && i < spread->count; i++)
        if (is_entry[i])
            paths[kept++] = entry_of(spread, (uint32_t)i, dearest);
    ranking->count = good ? kept : ranking->count;
    free(is_entry);
    free(dearest);
    return good;
}

struct argus_error *spread_add(const struct argus_contexts *contexts,
                               const struct argus_contexts *base,
                               const struct spread_options *options, struct argus_ranking *ranking)
{
    struct spread spread = {
        .contexts = contexts, .base = base, .options = options, .ranking = ranking};
    spread.count = argus_contexts_nodes(contexts, &spread.nodes);
    spread.sums = calloc(spread.count + 1, sizeof(*spread.sums));
    bool good = spread.sums != NULL;
    if (good) {
        add_here(&spread);
        good = subtract_base(&spread);
    }
    if (good) {
        add_up(&spread);
        good = replace_entries(&spread);
    }
    free(spread.sums);
    return good ? NULL : argus_error_memory();
}
