/* Words of the stack that have the time: `clock_gettime(CLOCK_MONOTONIC, &now)`. */
#ifndef ARGUS_STEPS_CODE_TIMES_H
#define ARGUS_STEPS_CODE_TIMES_H

#include "steps/loops/code_reach.h"

/* Whether the function lets a clock's function fill the slot. */
bool code_slot_has_time(struct code_budget *budget, const struct code_scope *scope,
                        struct code_slot slot);

#endif
