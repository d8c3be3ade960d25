/* Finds where two runs took different branches: for each branch that both executed in the same
 * context, the ways that each run took.
 *
 * Ways are compared as sets, not in order: if one run repeats a loop three times and the other a
 * thousand times, both took the same ways, and only the branch at the loop's exit differs. So the
 * comparison is about decisions, and takes time linear in the number of steps.
 */
#ifndef ARGUS_STEPS_DECISIONS_H
#define ARGUS_STEPS_DECISIONS_H

#include "steps/run.h"

#define DECISION_WAYS 8 /* ways of an indirect jump or call; further ones are added to the last */

/* A way on from a branch, and how one run took it. */
struct way_use {
    uint32_t count;
    uint32_t first, last; /* steps of the branch; valid if count > 0 */
};

struct way {
    uint64_t key;          /* of the target instruction */
    struct way_use use[2]; /* by run */
};

struct decision {
    uint64_t key;      /* of the branch and its context */
    uint32_t first[2]; /* by run: the first step of the branch; ARGUS_NONE: never executed */
    uint32_t way_count;
    struct way ways[DECISION_WAYS];
};

struct decisions {
    VEC(struct decision) all; /* in the order in which the runs reached them */
    struct idmap by_key;
    /* ignore contexts: if the runs began at different call depths, none are equal */
    bool in_any_context;
};

/* Adds the branches in the steps `first` to `end` (exclusive) of `run` (`which`: 0 or 1). */
struct argus_error *decisions_add(struct decisions *decisions, const struct run *run,
                                  unsigned which, uint32_t first, uint32_t end);
void decisions_deinit(struct decisions *decisions);

/* The way that only run `which` took, of a branch that both executed; if there are several, the
 * first one taken. NULL: none. */
const struct way *decision_only(const struct decision *decision, unsigned which);

/* How often run `which` executed the branch. */
uint32_t decision_count(const struct decision *decision, unsigned which);

#endif
