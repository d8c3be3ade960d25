/* How alike two vertices are in each of several respects, which similar.c weighs. */
#ifndef ARGUS_DIAGNOSE_LIKENESS_H
#define ARGUS_DIAGNOSE_LIKENESS_H

#include "argus/symbols.h"
#include "base/idmap.h"
#include "base/vec.h"
#include "slice/timeline.h"

/* One of the two graphs that are compared; they may be the same. */
struct likeness_side {
    struct view view;
    const struct argus_op *ops;
    struct argus_symbols *symbols; /* borrowed; may be NULL */
    uint64_t *names;               /* by process: a hash of its name; owned */
};

/* Vertices of `other` are compared with ones of `own`. */
struct likeness {
    struct likeness_side own, other;
    bool one_graph;
    /* Results that are equal for all vertices of one signature are kept: op sequences, stacks. */
    struct idmap by_ops, by_stack;
    VEC(float) known;
    uint32_t known_for; /* the vertex of `own` whose results are kept; ARGUS_NONE: none yet */
};

/* `symbols` and `other_symbols` may be NULL. False without memory; call likeness_deinit() in both
 * cases. */
bool likeness_init(struct likeness *likeness, const struct argus_graph *graph,
                   struct argus_symbols *symbols, const struct argus_graph *other,
                   struct argus_symbols *other_symbols);
void likeness_deinit(struct likeness *likeness);

/* All results are 0 … 1. `vertex` is of `own`, `candidate` of `other`. */

/* The user stacks of the waits. Within one run of a program they are compared by address; else by
 * function, if there are symbols; else by the offset in the page, which address space randomization
 * does not change. */
double likeness_of_stacks(struct likeness *likeness, uint32_t vertex, uint32_t candidate);
/* What the vertices did, in order, without the lengths of repetitions. The last 32 operations of
 * each, which led to the wait. */
double likeness_of_ops(struct likeness *likeness, uint32_t vertex, uint32_t candidate);
/* The objects that they waited on. */
double likeness_of_objects(const struct likeness *likeness, uint32_t vertex, uint32_t candidate);
/* The processes that began them, and those to which they sent something or which they made run. */
double likeness_of_peers(const struct likeness *likeness, uint32_t vertex, uint32_t candidate);
/* Whether they are of the same thread or, in another run of the program, of threads of the same
 * name. */
bool likeness_same_thread(const struct likeness *likeness, uint32_t vertex, uint32_t candidate);

#endif
