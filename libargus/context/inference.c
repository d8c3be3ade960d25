#include "context/inference.h"

static uint32_t depth_of(const struct tree *tree, uint32_t node)
{
    return node == ARGUS_NONE ? 0 : tree->nodes.data[node].depth;
}

static uint32_t common_ancestor(const struct tree *tree, uint32_t a, uint32_t b)
{
    const struct argus_context_node *nodes = tree->nodes.data;
    while (a != b && a != ARGUS_NONE && b != ARGUS_NONE) {
        if (nodes[a].depth >= nodes[b].depth)
            a = nodes[a].parent;
        else
            b = nodes[b].parent;
    }
    return a == b ? a : ARGUS_NONE;
}

/* The paper's closeRegister, for the functions of the last stack above `kept`, innermost first. */
static void close_down_to(struct inference *inference, struct tree *tree, uint32_t kept,
                          uint64_t time_ns)
{
    uint32_t depth = depth_of(tree, kept);
    for (uint32_t node = inference->node; node != ARGUS_NONE && node != kept;) {
        struct argus_context_node *instance = &tree->nodes.data[node];
        if (instance->depth < INFERENCE_FIRST_DEPTH || instance->depth <= depth)
            return;
        uint64_t start_ns = inference->start_ns.data[instance->depth - INFERENCE_FIRST_DEPTH];
        instance->count++;
        instance->total_ns[ARGUS_CONSERVATIVE] += inference->last_ns - start_ns;
        instance->total_ns[ARGUS_AGGRESSIVE] += time_ns - start_ns;
        node = instance->parent;
    }
}

bool inference_moment(struct inference *inference, struct tree *tree, uint32_t node,
                      uint64_t time_ns)
{
    if (node == inference->node) {
        inference->last_ns = time_ns;
        return true;
    }
    uint32_t kept = common_ancestor(tree, inference->node, node);
    uint32_t depth = tree->nodes.data[node].depth, from = depth_of(tree, kept) + 1;
    close_down_to(inference, tree, kept, time_ns);
    if (from < INFERENCE_FIRST_DEPTH)
        from = INFERENCE_FIRST_DEPTH;
    inference->start_ns.length = from - INFERENCE_FIRST_DEPTH;
    for (; from <= depth; from++)
        if (!vec_push(&inference->start_ns, time_ns))
            return false;
    inference->node = node;
    inference->last_ns = time_ns;
    return true;
}

void inference_end(struct inference *inference, struct tree *tree)
{
    close_down_to(inference, tree, ARGUS_NONE, inference->last_ns);
    inference->node = ARGUS_NONE;
}

void inference_deinit(struct inference *inference)
{
    vec_deinit(&inference->start_ns);
}
