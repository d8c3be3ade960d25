/* Where two runs decided differently: for each branch that both executed, in the same context, which ways each of them took.
 *
 * Sets of ways, not their order: a loop that one run went through three times and the other a thousand times has taken the
 * same ways, and only the branch that one left it by differs. That is what makes the comparison one of decisions, and linear in the
 * number of steps.
 */
#ifndef ARGUS_STEPS_DECISIONS_H
#define ARGUS_STEPS_DECISIONS_H

#include "steps/run.h"

#define DECISION_WAYS 8 /* of an indirect jump or call; further ones are counted with the last */

/* A way on from a branch, as one run took it. */
struct way_use {
    uint32_t count;
    uint32_t first, last; /* steps of the branch, if count > 0 */
};

struct way {
    uint64_t key;          /* of the instruction that it leads to */
    struct way_use use[2]; /* by run */
};

struct decision {
    uint64_t key;      /* of the branch and its context */
    uint32_t first[2]; /* by run: the first step of the branch; ARGUS_NONE: never executed */
    uint32_t way_count;
    struct way ways[DECISION_WAYS];
};

struct decisions {
    VEC(struct decision) all; /* in the order in which the runs came to them */
    struct idmap by_key;
    bool
        in_any_context; /* where the runs began at different depths no contexts are equal: do without */
};

/* Adds the branches among the steps `first` to `end` (exclusive) of `run` (which: 0 or 1). */
struct argus_error *decisions_add(struct decisions *decisions, const struct run *run,
                                  unsigned which, uint32_t first, uint32_t end);
void decisions_deinit(struct decisions *decisions);

/* The way that only run `which` took, of a branch that both executed; NULL: there is none. Of several the one that was taken first. */
const struct way *decision_only(const struct decision *decision, unsigned which);

/* How often run `which` executed it. */
uint32_t decision_count(const struct decision *decision, unsigned which);

#endif
