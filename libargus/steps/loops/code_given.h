/* Whether code gives memory away, so that what it calls may write it. */
#ifndef ARGUS_STEPS_CODE_GIVEN_H
#define ARGUS_STEPS_CODE_GIVEN_H

#include "steps/loops/code_paths.h"

/* Whether a function that the scope's region calls gets a pointer to `flag`, or to the object
 * around it, and stores there, or is not known; also whether the region itself stores to the word
 * of the stack where `flag` begins. Functions that only wait, and those that take a lock, do not
 * count. */
bool code_is_given(struct code_budget *budget, const struct code_scope *scope,
                   const struct code_path *flag);

#endif
