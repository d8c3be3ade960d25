/* The paper's algorithm 2: from the stacks of a thread, one after the other, to function instances and how long they took.
 *
 * A function is new in a stack when the last stack of the thread had another one at its depth, or when anything below it is
 * new. (The paper's listing has isNew the wrong way round, `f == LastStack[d]`; its table 1 has it right.) So what goes on is
 * what both stacks have in common from the outermost frame on: in the tree, the path to their lowest common ancestor.
 *
 * The paper keeps registers, one for each depth (t_start, t_end, function, node, path), and adds up when an instance ends. Here a
 * latency is put together from its pieces, which are the same in sum. Between two moments
 *
 *   - every function that both stacks have goes on: conservatively, the stretch belongs to the path of the common ancestor;
 *   - aggressively, it belongs to the path of the first stack, for its functions end with the second at the earliest;
 *   - an instance begins for every function of the second stack that the first has not.
 *
 * So a moment notes times and counts at one or two nodes, whose callers have them too, and inference_sum() adds up once, from the
 * leaves to the root. What a moment costs depends on how far its stack is from the last one, and not on how deep both are; one with the
 * same stack costs nothing but its time.
 */
#ifndef ARGUS_CONTEXT_INFERENCE_H
#define ARGUS_CONTEXT_INFERENCE_H

#include "context/tree.h"

/* Frames begin below the root and the program. */
#define INFERENCE_FIRST_DEPTH 2u

/* A thread's last stack. All zero but `node`, which is ARGUS_NONE, is a thread without one. */
struct inference {
    uint64_t since_ns, last_ns; /* it was first and last seen, without another in between */
    uint32_t node;              /* where it ends; ARGUS_NONE: none */
};

/* The thread has the stack that ends at `node` at `time_ns`, which is not before the last. */
void inference_moment(struct inference *inference, struct tree *tree, uint32_t node,
                      uint64_t time_ns);

/* The thread, or the trace, ends: all that goes on ended at its last moment. */
void inference_end(struct inference *inference, struct tree *tree);

/* Gives every node what was noted below it: its count and its totals. Once, when no thread has a stack any more. */
void inference_sum(struct tree *tree);

#endif
