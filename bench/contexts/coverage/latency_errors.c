#include "latency_errors.h"

#include <stdlib.h>

struct inferred {
    uint64_t count, total_ns[ARGUS_ESTIMATES];
};

typedef VEC(double) errors_vec;

static int by_size(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

static struct error_figures figures_of(errors_vec *errors)
{
    struct error_figures result = {.contexts = errors->length};
    if (!errors->length)
        return result;
    qsort(errors->data, errors->length, sizeof(double), by_size);
    result.median = errors->data[errors->length / 2];
    result.p90 = errors->data[errors->length * 9 / 10];
    return result;
}

static double relative(double inferred, double truth)
{
    double difference = inferred > truth ? inferred - truth : truth - inferred;
    return truth > 0 ? difference / truth : 0;
}

/* By context of the true tree. A context may be below several library frames. */
static struct inferred *add_up(const struct coverage *coverage,
                               const struct argus_contexts *contexts, struct latency_errors *ret)
{
    const struct argus_context_node *nodes;
    size_t count = argus_contexts_nodes(contexts, &nodes);
    struct placed *placed = truth_tree_place(coverage->tree, contexts);
    struct inferred *result = calloc(coverage->tree->nodes.length + 1, sizeof(*result));
    for (size_t i = 0; placed && result && i < count; i++) {
        bool went_off = placed[i].is_off && !placed[nodes[i].parent].is_off;
        ret->never_called += went_off;
        ret->inferred += went_off || placed[i].is_own;
        if (!placed[i].is_own)
            continue;
        struct inferred *of = &result[placed[i].node];
        of->count += nodes[i].count;
        for (int k = 0; k < ARGUS_ESTIMATES; k++)
            of->total_ns[k] += nodes[i].inferred_ns[k];
    }
    free(placed);
    return result;
}

static bool add_errors(const struct context_figures *truth, const struct inferred *inferred, int k,
                       errors_vec *ret_total, errors_vec *ret_mean)
{
    double of_all = (double)truth->total_ns, guessed = (double)inferred->total_ns[k];
    return vec_push(ret_total, relative(guessed, of_all)) &&
           vec_push(ret_mean,
                    relative(guessed / (double)inferred->count, of_all / (double)truth->count));
}

bool latency_errors_get(const struct coverage *coverage, const struct argus_contexts *contexts,
                        bool only_top, struct latency_errors *ret)
{
    size_t count;
    *ret = (struct latency_errors){0};
    uint32_t *order = coverage_by_latency(coverage, &count);
    struct inferred *inferred = add_up(coverage, contexts, ret);
    bool fine = order && inferred;
    size_t first = only_top ? count - coverage_top(count) : 0;
    for (int k = 0; fine && k < ARGUS_ESTIMATES; k++) {
        errors_vec totals = {0}, means = {0};
        for (size_t i = first; fine && i < count; i++)
            if (inferred[order[i]].count)
                fine = add_errors(&coverage->contexts.data[order[i]], &inferred[order[i]], k,
                                  &totals, &means);
        ret->total[k] = figures_of(&totals);
        ret->mean[k] = figures_of(&means);
        vec_deinit(&totals);
        vec_deinit(&means);
    }
    free(order);
    free(inferred);
    return fine;
}
