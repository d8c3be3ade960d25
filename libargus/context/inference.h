/* The paper's algorithm 2: from the stacks of a thread, one after the other, to function instances and how long they took.
 *
 * A function is new in a stack when the last stack of the thread had another one at its depth, or when anything below it is
 * new. (The paper's listing has isNew the wrong way round, `f == LastStack[d]`; its table 1 has it right.) So what goes on is
 * what both stacks have in common from the outermost frame on: in the tree, the path to their lowest common ancestor. With
 * the tree that is a comparison of node numbers, and a moment with the same path as before costs nothing but its time.
 *
 * What the paper keeps in registers, one for each depth (t_start, t_end, function, node, path), is here the node of
 * the last stack, which has all of its ancestors with it, one start time for each depth, and one end time for all: every
 * function that goes on was seen in the thread's last stack.
 */
#ifndef ARGUS_CONTEXT_INFERENCE_H
#define ARGUS_CONTEXT_INFERENCE_H

#include "context/tree.h"

/* Frames begin below the root and the program. */
#define INFERENCE_FIRST_DEPTH 2u

/* A thread's registers. All zero but `node`, which is ARGUS_NONE, is a thread without a stack. */
struct inference {
    VEC(uint64_t) start_ns; /* by depth, less INFERENCE_FIRST_DEPTH */
    uint64_t last_ns;
    uint32_t node; /* of the last stack; ARGUS_NONE: none */
};

/* The thread has the stack that ends at `node` at `time_ns`, which is not before the last. False without memory. */
bool inference_moment(struct inference *inference, struct tree *tree, uint32_t node,
                      uint64_t time_ns);

/* The thread, or the trace, ends: all that goes on ended at its last moment. */
void inference_end(struct inference *inference, struct tree *tree);

void inference_deinit(struct inference *inference);

#endif
