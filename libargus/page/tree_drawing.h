/* Merges both trees and computes the positions of their nodes: the paper's figure 5.
 *
 * The whole tree would be too large to read. Only nodes that took the most time, in the trace or in
 * the base, and nodes of listed contexts are drawn; the others are counted. A node's row is its
 * depth. Leaves are side by side, and callers above the middle of their callees.
 */
#ifndef ARGUS_PAGE_TREE_DRAWING_H
#define ARGUS_PAGE_TREE_DRAWING_H

#include "argus/contexts.h"

#define DRAWN_MOST 1500u

struct drawn_node {
    uint32_t parent;    /* index; ARGUS_NONE: it is a program */
    uint32_t node;      /* node of the contexts; ARGUS_NONE: only the base has it */
    uint32_t other;     /* node of the base; ARGUS_NONE */
    uint32_t depth;     /* 0: a program */
    double x;           /* leaves are 1 apart */
    double ns, base_ns; /* by --rank, including callees: their difference is the cost of both */
    bool drawn;
};

struct tree_drawing {
    struct drawn_node *nodes; /* owned; a caller before its callees */
    size_t count;
    uint32_t left_out, deepest; /* of the drawn nodes */
    double width;
};

struct argus_error *tree_drawing_create(const struct argus_contexts_report *report,
                                        struct tree_drawing *ret);
void tree_drawing_deinit(struct tree_drawing *drawing);

/* The function that a drawn node is a call of. */
const struct argus_context_function *drawn_function(const struct argus_contexts_report *report,
                                                    const struct drawn_node *drawn);

#endif
