/* Both trees in one, and where its nodes are drawn: the paper's figure 5.
 *
 * The whole would be too much to look at, and too large. Drawn is what took the most, in the trace or in the base, and what is on a
 * listed context; the rest is counted. A node is at its depth, leaves side by side, callers above the middle of their callees.
 */
#ifndef ARGUS_PAGE_TREE_DRAWING_H
#define ARGUS_PAGE_TREE_DRAWING_H

#include "argus/contexts.h"

#define DRAWN_MOST 1500u

struct drawn_node {
    uint32_t parent;    /* index; ARGUS_NONE: a program */
    uint32_t node;      /* of the contexts; ARGUS_NONE: only the base has it */
    uint32_t other;     /* of the base; ARGUS_NONE */
    uint32_t depth;     /* 0: a program */
    double x;           /* leaves are 1 apart */
    double ns, base_ns; /* with callees */
    bool drawn;
};

struct tree_drawing {
    struct drawn_node *nodes; /* owned; a caller before its callees */
    size_t count;
    uint32_t left_out, deepest; /* of what is drawn */
    double width;
};

struct argus_error *tree_drawing_create(const struct argus_contexts_report *report,
                                        struct tree_drawing *ret);
void tree_drawing_deinit(struct tree_drawing *drawing);

/* What a drawn node is a call of. */
const struct argus_context_function *drawn_function(const struct argus_contexts_report *report,
                                                    const struct drawn_node *drawn);

#endif
