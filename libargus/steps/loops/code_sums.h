/* Sums that begin anew in each turn of a loop: `left += !job->is_done` over all jobs. */
#ifndef ARGUS_STEPS_CODE_SUMS_H
#define ARGUS_STEPS_CODE_SUMS_H

#include "steps/loops/code_paths.h"

/* Whether the instruction at `node` adds to such a sum, in a register or a word of the stack.
 * `*ret_reg`: the register; REGISTER_NONE: the word that it names. `*ret`: what gave the sum its
 * value before, among them the instruction itself. */
bool code_adds_to_sum(struct code_budget *budget, const struct code_scope *scope, uint32_t node,
                      uint8_t *ret_reg, struct code_reach *ret);

#endif
