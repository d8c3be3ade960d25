/* Which instructions may have given a register, or a word of the stack, the value that it has
 * before an instruction. */
#ifndef ARGUS_STEPS_CODE_REACH_H
#define ARGUS_STEPS_CODE_REACH_H

#include "steps/loops/code_function.h"

#define CODE_REACH_MAX 12
#define CODE_TURN_END  (CODE_NONE - 1)
#define CODE_NEXT_TURN (CODE_NONE - 2)

/* A part of a function in which is searched, and how it came to be executed. */
struct code_scope {
    const struct code_function *function; /* borrowed */
    const bool *region;                   /* borrowed; by node; NULL: the whole function */
    uint32_t head;                        /* of a loop; CODE_NONE: it is none */
    const struct code_scope *caller;      /* borrowed; NULL: not known */
    uint32_t call;                        /* node of the caller */
    unsigned depth;                       /* of calls that were followed */
    /* The call only hands the function on, which gets register `handed_on` of the call in register
     * `handed_as` (pthread_create), if is_handed_on; else it calls the function. */
    bool is_handed_on;
    uint8_t handed_on, handed_as;
};

/* The scope of `function`, which the call at `node` of `caller` executes. */
static inline struct code_scope code_scope_of_call(const struct code_scope *caller, uint32_t node,
                                                   const struct code_function *function)
{
    return (struct code_scope){.function = function,
                               .head = CODE_NONE,
                               .caller = caller,
                               .call = node,
                               .depth = caller->depth + 1};
}

/* A word of the stack: code addresses it by the stack pointer or the frame pointer. */
struct code_slot {
    uint8_t reg;
    int64_t displacement;
};

struct code_reach {
    uint32_t found[CODE_REACH_MAX];
    uint32_t count;
    bool enters; /* some way leads to the region's beginning without such an instruction */
    bool is_cut; /* there were more, or the work exceeds what is allowed */
};

struct code_library;

/* What searches may use. */
struct code_budget {
    uint64_t left; /* instructions that may still be looked at; each search takes from it */
    /* has the functions whose results are followed; borrowed; NULL: none are */
    struct code_library *library;
};

/* Of general register `reg`, or REGISTER_FLAGS. In the whole function if `everywhere`, else in the
 * scope's region. */
void code_reach_register(struct code_budget *budget, const struct code_scope *scope,
                         bool everywhere, uint32_t node, uint8_t reg, struct code_reach *ret);
void code_reach_slot(struct code_budget *budget, const struct code_scope *scope, bool everywhere,
                     uint32_t node, struct code_slot slot, struct code_reach *ret);

/* The only instruction that gives the register its value at `node`; CODE_NONE: there is none, there
 * are others, or the value may be that at the beginning. */
uint32_t code_reach_only(struct code_budget *budget, const struct code_scope *scope,
                         bool everywhere, uint32_t node, uint8_t reg);

/* Of the instructions that `marked` tells, by node. */
void code_reach_marked(struct code_budget *budget, const struct code_scope *scope, bool everywhere,
                       uint32_t node, const bool *marked, struct code_reach *ret);

/* Whether ways lead from `from` to `to` within the scope, in one turn of its loop, and without
 * going through `without`. CODE_TURN_END: to where another turn begins, or the scope is left;
 * CODE_NEXT_TURN: only to the former. */
bool code_leads_to(struct code_budget *budget, const struct code_scope *scope, uint32_t from,
                   uint32_t to, uint32_t without);

/* Whether the function makes a pointer to the slot: then others can write it. */
bool code_slot_is_shared(const struct code_function *function, struct code_slot slot);

#define CODE_OBJECT_BYTES                                                                          \
    4096 /* a pointer to an object of the stack leads to what is less far in it */

/* Where the object probably begins in which the slot lies: the displacement of the nearest pointer
 * that the function makes at or before the slot. INT64_MIN: none. */
int64_t code_slot_object(const struct code_function *function, struct code_slot slot);
/* Whether others may have a pointer to the slot, or to the object around it. If the function only
 * makes a pointer to what is before the slot, and stores a register of eight bytes in it, then the
 * slot is taken for a local variable of its own, which that pointer does not lead to. */
bool code_slot_escapes(const struct code_function *function, struct code_slot slot);

#endif
