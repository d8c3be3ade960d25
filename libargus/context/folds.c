/* A function that is slow wherever it is called from has as many slow contexts as callers, each
 * with a small cost. So paths with the same functions from the culprit to the bottleneck are one
 * entry. The culprit is the bottleneck, and if that is the kernel, the function that called it or
 * its C library function. But a path with at least half of the cost of all of them stays alone,
 * because then its callers matter: many functions sleep by the same one. It does not if only the
 * sum of all is beyond chance, or if a wait became longer by nearly as much per call in the other
 * paths: then the culprit waits longer wherever it is called from. The cost of an entry is the sum
 * over all functions of its paths, in which callers that the paths share count once.
 *
 * How many CPU samples hit a function depends on chance: the standard deviation of that number is
 * its square root. A cost within twice the standard deviation of both traces may be nothing but
 * chance. So up to four samples are never beyond it. Waits for disks are measured, not sampled, but
 * differ from run to run: their variance is that of the base (sleeps.c). All other times are
 * measured, too. But with a base, less than a thousandth of the run's time may be chance, because
 * no two runs are more alike; and so may CPU time and waits for disks below what one sample stands
 * for. If the base has enough waits for disks to know their spread, not the sample but that spread
 * says how much they may differ, and at least half of their time in the base may: disks are faster
 * in one run than in another. What is beyond chance only together with other functions is added
 * after that (spread.c). */
#include <math.h>
#include <stdlib.h>

#include "base/hash64.h"
#include "context/charges.h"
#include "context/rank.h"
#include "context/spread.h"

#define CHANCE     2.0  /* in standard deviations */
#define MINOR_PART 1000 /* of the run's time */
#define ALIKE      0.5  /* of two costs of a call, the part that the lower one is at least */
#define DISK_PART  0.5  /* two runs' waits for disks may differ by so much of the base's */

struct folds {
    const struct argus_contexts *contexts, *base;
    const struct argus_context_node *nodes;
    struct argus_ranking *ranking;
    enum argus_estimate estimate;
    struct idmap states; /* state << 32 | function → state: one for each sequence of functions */
    uint32_t state_count;
    uint32_t *first, *last; /* owned; by state: 1 + path */
    uint32_t *next;         /* owned; by path: 1 + the next one of its entry */
    uint32_t *stamps;       /* owned; by node: the last sum that has its cost */
    bool counts_once;       /* what is in an entry beyond chance is in no other */
    bool *is_counted;       /* owned; by node: its cost is in an entry beyond chance */
    uint32_t *marks;        /* owned; by function: the last path with it, see callers_of() */
    uint32_t mark;
    double minor_ns;  /* a lower cost may be chance; 0 without a base */
    double sample_ns; /* the CPU time of one sample; 0 without a base or samples */
    uint32_t sum_count;
    bool no_memory;
};

static uint32_t culprit_of(const struct folds *folds, uint32_t node)
{
    const struct argus_context_function *functions;
    argus_contexts_functions(folds->contexts, &functions);
    bool is_kernel = functions[folds->nodes[node].function].layer == ARGUS_LAYER_KERNEL;
    return is_kernel ? charged_node(folds->contexts, node) : node;
}

static uint32_t state_after(struct folds *folds, uint32_t state, uint32_t function)
{
    uint64_t key = (uint64_t)state << 32 | function;
    uint32_t found = idmap_get(&folds->states, key);
    if (found != IDMAP_NONE)
        return found;
    found = ++folds->state_count;
    folds->no_memory |= !idmap_put(&folds->states, key, found);
    return found;
}

/* The same for two paths if they are one entry. */
static uint32_t key_of(struct folds *folds, const struct argus_ranked_path *path)
{
    uint32_t at = path->bottleneck, culprit = culprit_of(folds, at), program = at;
    uint32_t state = state_after(folds, 0, folds->nodes[at].function);
    for (; at != culprit; at = folds->nodes[at].parent)
        state = state_after(folds, state, folds->nodes[folds->nodes[at].parent].function);
    while (folds->nodes[program].depth > 1)
        program = folds->nodes[program].parent;
    return state_after(folds, state, folds->nodes[program].function);
}

/* Of an entry's cost, in ns * ns; and the parts of that cost that are CPU time, and waits for
 * disks, pages and stops, in ns. */
struct variance {
    double samples, waits;
    double cpu_ns, device_ns;
    double known_ns;      /* part of device_ns: the base has the spread of such waits */
    double known_base_ns; /* how long these waits were there */
};

static double device_ns(const struct argus_context_node *node, enum argus_estimate estimate)
{
    return (double)node->waited_ns[estimate][ARGUS_WAITED_DEVICE];
}

static const struct sleeps *sleeps_of(const struct folds *folds, const struct argus_contexts *side)
{
    return &side->moments.waits.sleeps[folds->estimate];
}

static void add_variance(const struct folds *folds, uint32_t at, struct variance *variance)
{
    const struct argus_context_node *node = &folds->nodes[at], *base_nodes;
    uint32_t other = folds->ranking->base_node[at];
    variance->samples += node->variance;
    variance->cpu_ns += (double)node_cpu_ns(node, folds->estimate);
    variance->device_ns += device_ns(node, folds->estimate);
    if (folds->ranking->moved) {
        variance->samples += folds->ranking->moved[at].variance;
        variance->cpu_ns -= folds->ranking->moved[at].cpu_ns;
    }
    if (!folds->base || other == ARGUS_NONE)
        return;
    argus_contexts_nodes(folds->base, &base_nodes);
    variance->cpu_ns -= (double)node_cpu_ns(&base_nodes[other], folds->estimate);
    variance->device_ns -= device_ns(&base_nodes[other], folds->estimate);
    variance->samples += base_nodes[other].variance;
    struct sleeper now = {node, sleeps_of(folds, folds->contexts), at, folds->estimate};
    struct sleeper base = {&base_nodes[other], sleeps_of(folds, folds->base), other,
                           folds->estimate};
    variance->waits += sleeps_device_variance(now, base);
    if (sleeps_device_is_known(base)) {
        double base_ns = device_ns(&base_nodes[other], folds->estimate);
        variance->known_ns += device_ns(node, folds->estimate) - base_ns;
        variance->known_base_ns += base_ns;
    }
}

/* Adds the functions of `path` that no other path of the entry has. */
static void add_path(struct folds *folds, const struct argus_ranked_path *path,
                     struct argus_ranked_path *ret, struct variance *variance)
{
    for (uint32_t at = path->node;
         folds->nodes[at].depth >= INFERENCE_FIRST_DEPTH && folds->stamps[at] != folds->sum_count;
         at = folds->nodes[at].parent) {
        folds->stamps[at] = folds->sum_count;
        if (folds->counts_once && folds->is_counted[at]) {
            ret->elsewhere_ns += folds->ranking->costs[at];
            continue;
        }
        ret->cost_ns += folds->ranking->costs[at];
        add_variance(folds, at, variance);
    }
}

/* By how much the waits for disks whose spread is known may differ. */
static double disk_chance_ns(const struct variance *variance)
{
    return fmax(CHANCE * sqrt(variance->waits), DISK_PART * variance->known_base_ns);
}

/* Whether the cost is less than one CPU sample stands for, apart from sleeps and the like that are
 * no more than a thousandth of the run, and from waits for disks within their own chance. */
static bool is_below_a_sample(const struct folds *folds, double cost_ns,
                              const struct variance *variance)
{
    double known_ns = fmax(variance->known_ns, 0);
    double varying_ns =
        fmax(variance->cpu_ns, 0) + fmax(variance->device_ns - variance->known_ns, 0);
    double may_be_ns =
        fmin(varying_ns, folds->sample_ns) + fmin(known_ns, disk_chance_ns(variance));
    return may_be_ns > 0 && cost_ns - may_be_ns < folds->minor_ns;
}

/* Whether measured waits of the bottlenecks are most of the cost, and beyond their own chance:
 * samples of their callers do not make them uncertain. */
static bool is_measured(const struct folds *folds, double cost_ns, double own_ns,
                        const struct variance *own)
{
    double measured_ns = own_ns - fmax(own->cpu_ns, 0);
    bool is_certain = measured_ns > folds->sample_ns || own->known_ns > disk_chance_ns(own);
    return is_certain && measured_ns > cost_ns / 2 && measured_ns > CHANCE * sqrt(own->waits);
}

/* The function that a path is charged to if nothing else calls its bottleneck. */
static uint32_t charged_function(const struct folds *folds, const struct argus_ranked_path *path)
{
    return folds->nodes[charged_node(folds->contexts, path->bottleneck)].function;
}

/* Makes an entry of the path `first` and those after it. */
static struct argus_ranked_path entry_of(struct folds *folds, uint32_t first)
{
    const struct argus_ranked_path *paths = folds->ranking->paths;
    struct argus_ranked_path entry = paths[first];
    struct variance variance = {0}, own = {0};
    double own_ns = 0;
    folds->sum_count++;
    entry.cost_ns = 0;
    entry.ways = entry.others = 0;
    entry.has_one_caller = true;
    for (uint32_t i = first + 1; i; i = folds->next[i - 1]) {
        const struct argus_ranked_path *path = &paths[i - 1];
        entry.others += path->others;
        entry.ways += folds->ranking->costs[path->bottleneck] > 0;
        entry.has_one_caller &= charged_function(folds, path) == charged_function(folds, &entry);
        own_ns += folds->ranking->costs[path->bottleneck];
        add_variance(folds, path->bottleneck, &own);
        add_path(folds, path, &entry, &variance);
    }
    entry.ways += !entry.ways;
    entry.chance_ns = CHANCE * sqrt(variance.samples + variance.waits);
    entry.chance_of_waits = variance.waits > variance.samples;
    entry.is_minor = entry.cost_ns > 0 && entry.cost_ns < folds->minor_ns;
    bool is_small = is_below_a_sample(folds, entry.cost_ns, &variance);
    bool within =
        entry.cost_ns <= entry.chance_ns && !is_measured(folds, entry.cost_ns, own_ns, &own);
    entry.chance_of_waits |= is_small && variance.device_ns > variance.cpu_ns;
    entry.by_chance = entry.cost_ns > 0 && (entry.is_minor || within || is_small);
    return entry;
}

/* Makes an entry of the path `first` and those after it, of which no other entry is made. */
static struct argus_ranked_path final_entry(struct folds *folds, uint32_t first)
{
    struct argus_ranked_path entry = entry_of(folds, first);
    if (entry.by_chance || entry.cost_ns <= 0)
        return entry;
    for (uint32_t i = first + 1; i; i = folds->next[i - 1])
        for (uint32_t at = folds->ranking->paths[i - 1].node;
             folds->nodes[at].depth >= INFERENCE_FIRST_DEPTH; at = folds->nodes[at].parent)
            folds->is_counted[at] = true;
    return entry;
}

/* Links the paths of each entry, in the order of their costs. */
static void link_paths(struct folds *folds, bool every)
{
    struct argus_ranking *ranking = folds->ranking;
    for (uint32_t i = 0; i < ranking->count && !every; i++) {
        uint32_t key = key_of(folds, &ranking->paths[i]);
        if (folds->no_memory)
            return;
        if (folds->last[key])
            folds->next[folds->last[key] - 1] = i + 1;
        else
            folds->first[key] = i + 1;
        folds->last[key] = i + 1;
    }
}

static bool is_first(struct folds *folds, uint32_t path, bool every)
{
    return every || folds->first[key_of(folds, &folds->ranking->paths[path])] == path + 1;
}

static double bottleneck_cost(const struct folds *folds, uint32_t path)
{
    double cost = folds->ranking->costs[folds->ranking->paths[path].bottleneck];
    return cost > 0 ? cost : 0;
}

/* The same number for paths with the same functions above the culprit, in any order, each of them
 * once: the sum of the functions' hashes. */
static uint64_t callers_of(struct folds *folds, uint32_t path)
{
    uint64_t sum = 0;
    folds->mark++;
    for (uint32_t at = culprit_of(folds, folds->ranking->paths[path].bottleneck);
         folds->nodes[at].depth >= INFERENCE_FIRST_DEPTH; at = folds->nodes[at].parent) {
        uint32_t function = folds->nodes[at].function;
        if (folds->marks[function] != folds->mark)
            sum += hash64(0, &function, sizeof(function));
        folds->marks[function] = folds->mark;
    }
    return sum;
}

/* Leaves the path `at` and those after it that have the same callers; returns the first of the
 * others: 1 + path; 0: none. */
static uint32_t part_others(struct folds *folds, uint32_t at)
{
    uint64_t callers = callers_of(folds, at);
    uint32_t same = at, others = 0, last = 0;
    for (uint32_t i = folds->next[at], next; i; i = next) {
        next = folds->next[i - 1];
        folds->next[i - 1] = 0;
        if (callers_of(folds, i - 1) == callers) {
            folds->next[same] = i;
            same = i - 1;
            continue;
        }
        *(last ? &folds->next[last - 1] : &others) = i;
        last = i;
    }
    folds->next[same] = 0;
    return others;
}

static double bottleneck_costs(const struct folds *folds, uint32_t first)
{
    double sum = 0;
    for (uint32_t i = first; i; i = folds->next[i - 1])
        sum += bottleneck_cost(folds, i - 1);
    return sum;
}

/* The cost per call of the bottlenecks of the list of paths that begins with `first`. Only of
 * waits: of a function that computes, not all calls are seen. 0: unknown. */
static double cost_of_call(const struct folds *folds, uint32_t first)
{
    const struct argus_context_function *functions;
    double calls = 0;
    argus_contexts_functions(folds->contexts, &functions);
    for (uint32_t i = first; i; i = folds->next[i - 1]) {
        uint32_t node = folds->ranking->paths[i - 1].bottleneck;
        if (functions[folds->nodes[node].function].layer != ARGUS_LAYER_KERNEL)
            return 0;
        calls += bottleneck_cost(folds, i - 1) > 0 ? (double)folds->nodes[node].count : 0;
    }
    return calls > 0 ? bottleneck_costs(folds, first) / calls : 0;
}

/* Whether the culprit waits longer in the paths of both lists, by nearly as much per call. */
static bool is_slow_in_both(const struct folds *folds, uint32_t first, uint32_t others)
{
    double here = cost_of_call(folds, first), there = cost_of_call(folds, others);
    return here > 0 && there >= ALIKE * here && here >= ALIKE * there;
}

/* Appends the paths that begin with `others` to those that begin with `at`, in the order of their
 * costs. */
static void join(struct folds *folds, uint32_t at, uint32_t others)
{
    uint32_t same = folds->next[at], *end = &folds->next[at];
    while (same && others) {
        uint32_t *least = same < others ? &same : &others;
        *end = *least;
        end = &folds->next[*least - 1];
        *least = *end;
    }
    *end = same ? same : others;
}

/* Paths without a cost are not merged. */
static size_t make_each(struct folds *folds, uint32_t first, struct argus_ranked_path *entries)
{
    size_t count = 0;
    for (uint32_t i = first, next; i; i = next) {
        next = folds->next[i - 1];
        folds->next[i - 1] = 0;
        entries[count++] = final_entry(folds, i - 1);
    }
    return count;
}

/* Makes entries of the paths that begin with `at`, and adds them to `entries`. Returns their
 * number. */
static size_t split(struct folds *folds, uint32_t at, struct argus_ranked_path *entries)
{
    size_t count = 0;
    for (uint32_t others; (others = part_others(folds, at)) != 0; at = others - 1) {
        double here = bottleneck_costs(folds, at + 1), there = bottleneck_costs(folds, others);
        bool is_apart = here > 0 && here >= there && !entry_of(folds, at).by_chance &&
                        !is_slow_in_both(folds, at + 1, others);
        if (!is_apart)
            join(folds, at, others);
        if (here + there <= 0)
            return count + make_each(folds, at + 1, &entries[count]);
        if (!is_apart)
            break;
        entries[count++] = final_entry(folds, at);
    }
    entries[count++] = final_entry(folds, at);
    return count;
}

/* The highest number of states: one for each function from a bottleneck up, and the program. */
static size_t most_states(const struct argus_ranking *ranking,
                          const struct argus_context_node *nodes)
{
    size_t most = 1;
    for (size_t i = 0; i < ranking->count; i++)
        most += nodes[ranking->paths[i].bottleneck].depth + 2;
    return most;
}

static void make_entries(struct folds *folds, bool every)
{
    struct argus_ranking *ranking = folds->ranking;
    struct argus_ranked_path *entries = calloc(ranking->count + 1, sizeof(*entries));
    size_t count = 0;
    folds->no_memory |= !entries;
    for (uint32_t i = 0; !folds->no_memory && i < ranking->count; i++)
        if (is_first(folds, i, every))
            count += split(folds, i, &entries[count]);
    if (folds->no_memory) {
        free(entries);
        return;
    }
    free(ranking->paths);
    ranking->paths = entries;
    ranking->count = count;
}

/* How long a run took: from its first program's beginning to the last one's end. */
static double run_ns(const struct argus_contexts *contexts)
{
    const struct argus_context_program *programs;
    size_t count = argus_contexts_programs(contexts, &programs);
    uint64_t first = UINT64_MAX, last = 0;
    for (size_t i = 0; i < count; i++) {
        first = programs[i].first_ns < first ? programs[i].first_ns : first;
        last = programs[i].last_ns > last ? programs[i].last_ns : last;
    }
    return last > first ? (double)(last - first) : 0;
}

/* The CPU time that one sample stands for. */
static double sample_ns(const struct argus_contexts *contexts, enum argus_estimate estimate)
{
    const struct argus_context_node *nodes;
    size_t count = argus_contexts_nodes(contexts, &nodes);
    double samples = (double)argus_contexts_counts(contexts)->moments[ARGUS_MOMENT_SAMPLE], sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)node_cpu_ns(&nodes[i], estimate);
    return samples ? sum / samples : 0;
}

static struct argus_error *add_spread(struct folds *folds,
                                      const struct argus_ranking_options *options)
{
    struct spread_options spread = {options->estimate, folds->is_counted,
                                    fmax(folds->minor_ns, folds->sample_ns)};
    if (folds->no_memory)
        return argus_error_memory();
    if (!folds->base || options->every || options->rank != ARGUS_RANK_BLAME)
        return NULL;
    return spread_add(folds->contexts, folds->base, &spread, folds->ranking);
}

struct argus_error *folds_make(const struct argus_contexts *contexts,
                               const struct argus_contexts *base,
                               const struct argus_ranking_options *options,
                               struct argus_ranking *ranking)
{
    struct folds folds = {
        .contexts = contexts, .base = base, .ranking = ranking, .estimate = options->estimate};
    const struct argus_context_function *functions;
    size_t node_count = argus_contexts_nodes(contexts, &folds.nodes);
    size_t function_count = argus_contexts_functions(contexts, &functions);
    size_t states = most_states(ranking, folds.nodes);
    folds.first = calloc(states + 1, sizeof(uint32_t));
    folds.last = calloc(states + 1, sizeof(uint32_t));
    folds.next = calloc(ranking->count + 1, sizeof(uint32_t));
    folds.stamps = calloc(node_count + 1, sizeof(uint32_t));
    folds.is_counted = calloc(node_count + 1, sizeof(bool));
    folds.marks = calloc(function_count + 1, sizeof(uint32_t));
    folds.minor_ns = base ? fmax(run_ns(contexts), run_ns(base)) / MINOR_PART : 0;
    folds.counts_once = base && !options->every && options->rank == ARGUS_RANK_BLAME;
    folds.sample_ns = base ? sample_ns(contexts, options->estimate) : 0;
    folds.no_memory = !folds.first || !folds.last || !folds.next || !folds.stamps ||
                      !folds.is_counted || !folds.marks;
    if (!folds.no_memory)
        link_paths(&folds, options->every);
    if (!folds.no_memory)
        make_entries(&folds, options->every);
    struct argus_error *error = add_spread(&folds, options);
    free(folds.first);
    free(folds.last);
    free(folds.next);
    free(folds.stamps);
    free(folds.is_counted);
    free(folds.marks);
    idmap_deinit(&folds.states);
    return error;
}
