/* The calling context tree (the paper's algorithm 1): merged call stacks; each node is a function
 * with the same callers. */
#ifndef ARGUS_CONTEXT_TREE_H
#define ARGUS_CONTEXT_TREE_H

#include "argus/contexts.h"
#include "base/idmap.h"
#include "base/vec.h"

struct tree {
    VEC(struct argus_context_node) nodes; /* the root is the first */
    VEC(uint32_t)
    /* by node: a copy of the nodes' parents, which makes the search for the common part of two
     * stacks fast */
    parents;
    VEC(uint32_t) paths;  /* path index → node: the paper's map_path */
    struct idmap by_edge; /* parent << 32 | function → node */
};

/* The child of `parent` for `function`, created if needed; ARGUS_NONE without memory. The parent of
 * the root is ARGUS_NONE. */
static inline uint32_t tree_child(struct tree *tree, uint32_t parent, uint32_t function)
{
    uint64_t edge = (uint64_t)parent << 32 | function;
    uint32_t node = idmap_get(&tree->by_edge, edge);
    if (node != IDMAP_NONE)
        return node;
    struct argus_context_node made = {
        .parent = parent,
        .function = function,
        .depth = parent == ARGUS_NONE ? 0 : tree->nodes.data[parent].depth + 1,
        .path = ARGUS_NONE,
    };
    node = (uint32_t)tree->nodes.length;
    bool kept = vec_push(&tree->nodes, made) && vec_push(&tree->parents, parent) &&
                idmap_put(&tree->by_edge, edge, node);
    return kept ? node : ARGUS_NONE;
}

/* The index of the path that ends at `node`; ARGUS_NONE without memory. */
static inline uint32_t tree_path(struct tree *tree, uint32_t node)
{
    uint32_t path = tree->nodes.data[node].path;
    if (path != ARGUS_NONE)
        return path;
    path = (uint32_t)tree->paths.length;
    if (!vec_push(&tree->paths, node))
        return ARGUS_NONE;
    tree->nodes.data[node].path = path;
    return path;
}

/* The deepest node that is on both paths. A caller has a lower number than its callees, so of two
 * nodes, the one with the higher number cannot be on the path to the other. The root is 0. */
static inline uint32_t tree_common(const struct tree *tree, uint32_t a, uint32_t b)
{
    const uint32_t *parents = tree->parents.data;
    while (a != b) {
        if (a > b)
            a = parents[a];
        else
            b = parents[b];
    }
    return a;
}

static inline void tree_deinit(struct tree *tree)
{
    vec_deinit(&tree->nodes);
    vec_deinit(&tree->parents);
    vec_deinit(&tree->paths);
    idmap_deinit(&tree->by_edge);
}

#endif
