/* The paper's algorithm 2: infers function instances and their durations from the successive stacks
 * of a thread.
 *
 * A function is new in a stack if the thread's previous stack had another function at its depth, or
 * if any of its callers is new. (The paper's listing has isNew inverted, `f == LastStack[d]`; its
 * table 1 is right.) So the functions that continue are those that both stacks have in common from
 * the outermost frame on: in the tree, the path to their lowest common ancestor.
 *
 * The paper keeps a register for each depth (t_start, t_end, function, node, path) and adds up its
 * time when an instance ends. Here a latency is composed of pieces with the same sum. Between two
 * moments
 *
 *   - every function that both stacks have continues: conservatively, the period belongs to the
 *     path of the common ancestor;
 *   - aggressively, the period belongs to the path of the first stack, because its functions end at
 *     the second moment at the earliest;
 *   - an instance begins for every function of the second stack that the first one lacks.
 *
 * So each moment adds times and counts at one or two nodes only, and inference_sum() adds them to
 * all callers once, from the leaves to the root. The cost of a moment depends on the distance
 * between its stack and the previous one, not on their depths; if both are equal, only the time is
 * updated.
 */
#ifndef ARGUS_CONTEXT_INFERENCE_H
#define ARGUS_CONTEXT_INFERENCE_H

#include "context/tree.h"

/* Frames begin below the root and the program. */
#define INFERENCE_FIRST_DEPTH 2u

/* A thread's last stack. A thread without one has all zero except `node`, which is ARGUS_NONE. */
struct inference {
    /* when the stack was first and last seen, without another one in between */
    uint64_t since_ns, last_ns;
    uint32_t node; /* where it ends; ARGUS_NONE: none */
};

/* The thread has the stack that ends at `node` at `time_ns`, which must not be before the previous
 * moment. */
void inference_moment(struct inference *inference, struct tree *tree, uint32_t node,
                      uint64_t time_ns);

/* The thread or the trace ends: all its instances end at their last moment. */
void inference_end(struct inference *inference, struct tree *tree);

/* Adds to every node the counts and times of the nodes below it. To be called once, when no thread
 * has a stack any more. The programs also keep the time in which none of their functions went
 * on. */
void inference_sum(struct tree *tree);

#endif
