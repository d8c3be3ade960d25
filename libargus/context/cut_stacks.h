/* Stacks that are cut at their outer end, put where they belong.
 *
 * A cut stack has the innermost frames only, so by itself it would hang at the root of the tree, and nothing would be known to go on from
 * the whole stack before it to it. But its outermost two functions, one called by the other, may be at just one place in all the whole
 * stacks that its thread had so far: then it is taken to go on from there. Where they are at several places (recursion, or a
 * helper that is called from everywhere), or at none, it stays below "[stack cut]".
 *
 * What is grafted counts as whole for later ones: in a deep recursion with different functions each stack stands on the one before. What
 * was decided for a thread and a stack stays so. Traces without a cut stack pay nothing.
 */
#ifndef ARGUS_CONTEXT_CUT_STACKS_H
#define ARGUS_CONTEXT_CUT_STACKS_H

#include "context/stack_paths.h"

struct cut_stacks {
    struct paths *paths;     /* borrowed; NULL: no stack of the trace is cut */
    struct idmap calls;      /* caller and callee → number */
    struct idmap places;     /* thread and number → the caller's node, or SEVERAL */
    struct idmap decided;    /* thread and user path → user path */
    VEC(uint32_t) functions; /* of the stack that is looked at, innermost first */
    bool no_memory;          /* sticky */
};

void cut_stacks_init(struct cut_stacks *cuts, struct paths *paths);
void cut_stacks_deinit(struct cut_stacks *cuts);

/* The user path that stands for `user` in `thread`: a grafted one, or the same. One that is not cut is learned from. */
uint32_t cut_stacks_apply(struct cut_stacks *cuts, uint32_t thread, uint32_t user);

#endif
