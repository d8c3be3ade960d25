/* Two words that compilers store at once, on x86-64: movq xmm0, rcx; movq xmm3, rdx; punpcklqdq
 * xmm0, xmm3; movaps [x], xmm0. GCC 12 and later do so at -O2, as for the two function pointers of
 * a std::function. */
#ifndef ARGUS_STEPS_CODE_HALVES_H
#define ARGUS_STEPS_CODE_HALVES_H

#include "steps/loops/code_reach.h"

struct code_half {
    uint32_t node;    /* before which `reg` has the word … */
    uint8_t reg;      /* … a general register; REGISTER_NONE: it is in memory */
    uint64_t address; /* of that memory, in the file */
};

/* Where half 0 (the lower one) or 1 of the 16 bytes comes from that the instruction at `node`
 * stores. False: the code does not tell. */
bool code_half_find(struct code_budget *budget, const struct code_scope *scope, uint32_t node,
                    unsigned half, struct code_half *ret);

#endif
