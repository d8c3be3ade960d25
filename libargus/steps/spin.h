/* Finds the loop in which a run ended, and the branches that could lead out of it. */
#ifndef ARGUS_STEPS_SPIN_H
#define ARGUS_STEPS_SPIN_H

#include "steps/run.h"

struct spin {
    uint32_t first, last; /* steps at the loop's head: its first and its last iteration */
    uint32_t turns;
    bool to_the_end;
    bool *executes; /* owned; by instruction: whether the loop executes it */
};

/* Finds the longest repetition in the run: the place, in one context, whose first and last
 * executions are farthest apart. False: no place was executed twice. Errors: MEMORY. */
struct argus_error *spin_find(const struct run *run, struct spin *ret, bool *ret_found);

/* Does code from `address` on lead out of the loop? It does unless, within its function, it comes
 * back to an instruction that the loop executed; what is only reached through a return comes back.
 */
void spin_deinit(struct spin *spin);
bool spin_leaves(const struct run *run, const struct spin *spin, uint32_t branch_step,
                 uint64_t address);

#endif
