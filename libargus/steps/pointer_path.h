/* Finds how a thread obtained an address: from a variable of a file, through pointers in memory.
 *
 * An object on the heap has another address in each run, but the pointers that lead to it often
 * begin at the same variable. The path follows the instructions backward: from where the base
 * register was loaded, from where the base register of that load was loaded, and so on, to a
 * variable, the result of a call, or the beginning of the trace.
 */
#ifndef ARGUS_STEPS_POINTER_PATH_H
#define ARGUS_STEPS_POINTER_PATH_H

#include "steps/run.h"

enum pointer_root {
    ROOT_UNKNOWN,
    /* `address` is in a file; the path begins with the pointer at this address or, without links,
     * the object is at this address */
    ROOT_VARIABLE,
    ROOT_CALL,     /* the result of a call that was stepped over, at `step` */
    ROOT_REGISTER, /* register `number`, as it was at the beginning of the trace */
    ROOT_STACK,    /* an address on the thread's stack */
};

#define POINTER_LINKS     8
#define POINTER_SIGHTINGS 16

/* A register or a word on the stack that had one of the pointers, before `step`: the memory is
 * reached from that pointer by `added`, and then by the last `links` offsets of the path. */
struct pointer_sighting {
    uint32_t step, links;
    uint8_t number; /* general register; REGISTER_NONE: the word at … */
    uint64_t stack_address;
    int64_t added;
    /* the register points to an object on the stack, whose word at this offset has the pointer */
    bool has_outer;
    int64_t outer;
};

/* If the root is a variable, the object is at *(… *(*(address) + offsets[0]) + offsets[1] …) +
 * offsets[links - 1]. If it is a call or a register, its value takes the place of the innermost
 * *(address). */
struct pointer_path {
    enum pointer_root root;
    uint64_t address;
    uint32_t step;
    uint8_t number;
    uint32_t links;
    int64_t offsets[POINTER_LINKS];
    uint32_t root_step; /* that loaded the pointer at `address`, or computed the address */
    /* the innermost first; later ones are left out */
    struct pointer_sighting sightings[POINTER_SIGHTINGS];
    uint32_t sighting_count;
};

/* The path to memory operand `operand` of the instruction of `step`. */
void pointer_path_find(const struct run *run, uint32_t step, unsigned operand,
                       struct pointer_path *ret);

#endif
