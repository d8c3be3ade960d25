/* Finds the place in the tree of stacks whose outermost frames were cut off.
 *
 * A stack that was cut off has only its innermost frames. By itself it would be a child of the
 * tree's root, and no function would continue from the previous complete stack. But its outermost
 * two functions, of which one calls the other, may be at exactly one place in all complete stacks
 * that its thread had so far: then the stack is grafted onto that place. If they are at several
 * places (recursion, or a helper that is called from everywhere), or at none, the stack stays below
 * "[stack cut]".
 *
 * A grafted stack counts as complete for later ones: in a deep recursion with different functions,
 * each stack is grafted onto the previous one. A decision for a thread and a stack is final. Traces
 * without such stacks have no extra cost.
 */
#ifndef ARGUS_CONTEXT_CUT_STACKS_H
#define ARGUS_CONTEXT_CUT_STACKS_H

#include "context/stack_paths.h"

struct cut_stacks {
    struct paths *paths;     /* borrowed; NULL: no stack of the trace was cut off */
    struct idmap calls;      /* caller and callee → number */
    struct idmap places;     /* thread and number → the caller's node, or SEVERAL */
    struct idmap decided;    /* thread and user path → user path */
    VEC(uint32_t) functions; /* of the current stack, innermost first */
    bool no_memory;          /* sticky */
};

void cut_stacks_init(struct cut_stacks *cuts, struct paths *paths);
void cut_stacks_deinit(struct cut_stacks *cuts);

/* The user path to use for `user` in `thread`: a grafted one, or `user` itself. A complete path is
 * stored for later grafts. */
uint32_t cut_stacks_apply(struct cut_stacks *cuts, uint32_t thread, uint32_t user);

#endif
