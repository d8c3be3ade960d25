/* Own time is the inferred total minus that of the children, plus what CPU samples moved here. It
 * is never negative: the children's instances lie inside those of the parent, and samples only
 * distribute time that the inference gave to the function that continued. Totals are the sums of
 * own times, so that samples are in both.
 *
 * A program's own time is that between two stacks that have no function in common. It belongs to no
 * function, and is no context's cost, but it is part of the program's total. */
#include "context/times.h"

static void subtract_children(struct tree *tree)
{
    struct argus_context_node *nodes = tree->nodes.data;
    for (size_t i = tree->nodes.length; i-- > 0;)
        for (int k = 0; k < ARGUS_ESTIMATES; k++) {
            nodes[i].own_ns[k] += nodes[i].inferred_ns[k];
            if (i > 0)
                nodes[nodes[i].parent].own_ns[k] -= nodes[i].inferred_ns[k];
        }
}

/* Records that contradict each other may have a thread wait while it ran: own time wins. */
static void trim_waits(struct argus_context_node *node, enum argus_estimate estimate)
{
    uint64_t left_ns = node->own_ns[estimate];
    for (int i = 0; i < ARGUS_WAITED_KINDS; i++) {
        uint64_t *waited_ns = &node->waited_ns[estimate][i];
        *waited_ns = *waited_ns < left_ns ? *waited_ns : left_ns;
        left_ns -= *waited_ns;
    }
}

void times_settle(struct tree *tree)
{
    struct argus_context_node *nodes = tree->nodes.data;
    subtract_children(tree);
    for (size_t i = tree->nodes.length; i-- > 0;) {
        nodes[i].own_ns[ARGUS_CONSERVATIVE] += (uint64_t)nodes[i].sampled_ns;
        for (int k = 0; k < ARGUS_ESTIMATES; k++) {
            trim_waits(&nodes[i], (enum argus_estimate)k);
            nodes[i].total_ns[k] += nodes[i].own_ns[k];
            if (i > 0)
                nodes[nodes[i].parent].total_ns[k] += nodes[i].total_ns[k];
        }
    }
}

double node_work_ns(const struct argus_context_node *node, enum argus_estimate estimate)
{
    double work = (double)node->own_ns[estimate];
    for (int i = 0; i < ARGUS_WAITED_KINDS; i++)
        work -= i == ARGUS_WAITED_DEVICE ? 0 : (double)node->waited_ns[estimate][i];
    return work;
}

uint64_t node_cpu_ns(const struct argus_context_node *node, enum argus_estimate estimate)
{
    uint64_t cpu_ns = node->own_ns[estimate];
    for (int i = 0; i < ARGUS_WAITED_KINDS; i++)
        cpu_ns -= node->waited_ns[estimate][i];
    return cpu_ns;
}

double node_mean_ns(const struct argus_context_node *node, enum argus_estimate estimate)
{
    return node->count ? (double)node->total_ns[estimate] / (double)node->count : 0;
}
