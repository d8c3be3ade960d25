/* Constants that instructions store: mov [x], 1; xor eax, eax; xchg [x], eax; str wzr, [x]. */
#ifndef ARGUS_STEPS_CODE_CONSTANTS_H
#define ARGUS_STEPS_CODE_CONSTANTS_H

#include "steps/loops/code_reach.h"

/* The constant that the instruction at `node` stores in its only memory operand: the lowest `bytes`
 * bytes of it, with their sign. False: it computes what it stores, or stores nothing. */
bool code_constant_stored(struct code_budget *budget, const struct code_scope *scope, uint32_t node,
                          uint32_t bytes, int64_t *ret);

#endif
