/* How a thread came by an address: from a variable of a file through pointers in memory.
 *
 * An object on the heap lies elsewhere in each run, but what leads to it often begins at the same variable. The path is
 * what the instructions did: where the base register was loaded from, where that one's base register was loaded from, and so
 * on, back to a variable, to the result of a call, or to where the trace begins.
 */
#ifndef ARGUS_STEPS_POINTER_PATH_H
#define ARGUS_STEPS_POINTER_PATH_H

#include "steps/run.h"

enum pointer_root {
    ROOT_UNKNOWN,
    ROOT_VARIABLE, /* `address` lies in a file; the path begins with the pointer that is there, or, without links, is there */
    ROOT_CALL,     /* the result of a call that was stepped over, at `step` */
    ROOT_REGISTER, /* register `number` as it was when the trace began */
    ROOT_STACK,    /* an address at the thread's stack */
};

#define POINTER_LINKS 8

/* With a variable for a root, the object is at *(… *(*(address) + offsets[0]) + offsets[1] …) + offsets[links - 1]; with a call or
 * a register the innermost *(address) is its value. */
struct pointer_path {
    enum pointer_root root;
    uint64_t address;
    uint32_t step;
    uint8_t number;
    uint32_t links;
    int64_t offsets[POINTER_LINKS];
};

/* Of memory operand `operand` of the instruction of `step`. */
void pointer_path_find(const struct run *run, uint32_t step, unsigned operand,
                       struct pointer_path *ret);

#endif
