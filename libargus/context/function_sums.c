#include "context/function_sums.h"

#include <stdlib.h>

#include "context/contexts_data.h"

static int by_cost(const void *left, const void *right)
{
    const struct function_sum *a = left, *b = right;
    if (!a->contexts != !b->contexts)
        return a->contexts ? -1 : 1;
    if (a->cost_ns != b->cost_ns)
        return a->cost_ns > b->cost_ns ? -1 : 1;
    if (a->own_ns != b->own_ns)
        return a->own_ns > b->own_ns ? -1 : 1;
    return a->function < b->function ? -1 : a->function > b->function;
}

/* By node: its cost and that of all nodes below. */
static double *costs_below(const struct argus_contexts_report *report)
{
    const struct argus_context_node *nodes;
    size_t count = argus_contexts_nodes(report->contexts, &nodes);
    double *costs = calloc(count + 1, sizeof(*costs));
    for (size_t i = count; costs && i-- > 1;) {
        costs[i] += report->ranking->costs[i];
        costs[nodes[i].parent] += costs[i];
    }
    return costs;
}

/* Whether a caller is the same function. */
static bool is_recursive(const struct argus_context_node *nodes, uint32_t node)
{
    uint32_t function = nodes[node].function;
    for (uint32_t at = nodes[node].parent; nodes[at].depth >= INFERENCE_FIRST_DEPTH;
         at = nodes[at].parent)
        if (nodes[at].function == function)
            return true;
    return false;
}

static void add_node(struct function_sum *sum, const struct argus_context_node *node,
                     enum argus_estimate estimate)
{
    sum->own_ns += node->own_ns[estimate];
    sum->calls += node->count;
    sum->contexts++;
    for (int k = 0; k < ARGUS_WAITED_KINDS; k++)
        sum->waited_ns += node->waited_ns[estimate][k];
}

struct argus_error *function_sums_create(const struct argus_contexts_report *report,
                                         struct function_sums *ret)
{
    const struct argus_context_function *functions;
    const struct argus_context_node *nodes;
    size_t count = argus_contexts_nodes(report->contexts, &nodes);
    size_t function_count = argus_contexts_functions(report->contexts, &functions);
    double *below = costs_below(report);
    *ret = (struct function_sums){calloc(function_count + 1, sizeof(*ret->items)), 0};
    for (size_t i = 0; ret->items && i < function_count; i++)
        ret->items[i].function = (uint32_t)i;
    for (uint32_t i = 1; ret->items && below && i < count; i++) {
        if (nodes[i].depth < INFERENCE_FIRST_DEPTH)
            continue;
        struct function_sum *sum = &ret->items[nodes[i].function];
        ret->count += !sum->contexts;
        add_node(sum, &nodes[i], report->options.estimate);
        sum->cost_ns += report->ranking->costs[i];
        if (is_recursive(nodes, i))
            continue;
        sum->inclusive_cost_ns += below[i];
        sum->total_ns += nodes[i].total_ns[report->options.estimate];
    }
    bool good = ret->items && below;
    free(below);
    if (!good) {
        function_sums_deinit(ret);
        return argus_error_memory();
    }
    qsort(ret->items, function_count, sizeof(*ret->items), by_cost);
    return NULL;
}

void function_sums_deinit(struct function_sums *sums)
{
    free(sums->items);
    sums->items = NULL;
}
