/* The loops of a function around one of its instructions: natural loops, that is, those with one
 * way in, and the innermost one with several ways in. */
#ifndef ARGUS_STEPS_CODE_LOOPS_H
#define ARGUS_STEPS_CODE_LOOPS_H

#include "steps/loops/code_function.h"

#define CODE_LOOPS_MAX 8 /* around one instruction */

struct code_loop {
    uint32_t head;
    uint32_t size; /* instructions */
    bool *has;     /* owned; by node: whether the loop has it */
};

struct code_loops {
    struct code_loop all[CODE_LOOPS_MAX]; /* the innermost first */
    uint32_t count;
};

/* The loops around `node`. Of the loop with several ways in, `node` is the head. Compilers let an
 * inner loop and the one around it begin with the same instruction, which looks like one loop with
 * a "continue". `splits`: each way back to such a beginning makes a loop of its own, too, and loops
 * with several ways in are left out. False: no memory. */
bool code_loops_init(struct code_loops *loops, const struct code_function *function, uint32_t node,
                     bool splits);
void code_loops_deinit(struct code_loops *loops);

#endif
