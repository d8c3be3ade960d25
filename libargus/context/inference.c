#include "context/inference.h"

/* Adds the period [since, last] and the time from then until `time_ns`; conservatively, the latter
 * belongs only to `kept` and its callers. */
static void note_stretch(const struct inference *inference, struct tree *tree, uint32_t kept,
                         uint64_t time_ns)
{
    struct argus_context_node *node = &tree->nodes.data[inference->node];
    node->inferred_ns[ARGUS_CONSERVATIVE] += inference->last_ns - inference->since_ns;
    node->inferred_ns[ARGUS_AGGRESSIVE] += time_ns - inference->since_ns;
    tree->nodes.data[kept].inferred_ns[ARGUS_CONSERVATIVE] += time_ns - inference->last_ns;
}

void inference_moment(struct inference *inference, struct tree *tree, uint32_t node,
                      uint64_t time_ns)
{
    uint32_t kept = 0;
    if (node == inference->node) {
        inference->last_ns = time_ns;
        return;
    }
    if (inference->node != ARGUS_NONE) {
        kept = tree_common(tree, inference->node, node);
        note_stretch(inference, tree, kept, time_ns);
    }
    tree->nodes.data[node].count++; /* unsigned: intermediate underflows cancel out in the sum */
    tree->nodes.data[kept].count--;
    *inference = (struct inference){.since_ns = time_ns, .last_ns = time_ns, .node = node};
}

void inference_end(struct inference *inference, struct tree *tree)
{
    if (inference->node != ARGUS_NONE)
        note_stretch(inference, tree, 0, inference->last_ns);
    inference->node = ARGUS_NONE;
}

void inference_sum(struct tree *tree)
{
    struct argus_context_node *nodes = tree->nodes.data;
    for (size_t i = tree->nodes.length; i-- > 1;) {
        struct argus_context_node *parent = &nodes[nodes[i].parent];
        parent->count += nodes[i].count;
        for (int k = 0; k < ARGUS_ESTIMATES; k++)
            parent->inferred_ns[k] += nodes[i].inferred_ns[k];
        if (nodes[i].depth < INFERENCE_FIRST_DEPTH)
            nodes[i].count = 0; /* the root and the programs have no instances */
    }
    nodes[0].count = 0;
}
