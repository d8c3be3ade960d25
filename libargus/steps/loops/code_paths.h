/* Where the memory lies that an instruction names, as far as code tells: from a variable through pointers. */
#ifndef ARGUS_STEPS_CODE_PATHS_H
#define ARGUS_STEPS_CODE_PATHS_H

#include "steps/loops/code_reach.h"

#define CODE_PATH_LINKS 8

enum code_root {
    CODE_UNKNOWN,
    CODE_ADDRESS, /* an address of the file */
    CODE_FOREIGN, /* a variable of another file: `name` */
    CODE_THREAD,  /* thread-local: `address` counts from the thread's pointer */
    CODE_STACK,   /* a word of the stack of the scope's function */
    CODE_MAPPED, /* memory that the program mapped and may share: `address` counts from its beginning */
    CODE_ERRNO,
};

/* With links: what *(… *(*(root) + offsets[0]) …) + offsets[links - 1] names. */
struct code_path {
    enum code_root root;
    const struct code_image *image; /* borrowed */
    uint64_t address;
    const char *name; /* borrowed from the file */
    struct code_slot slot;
    const struct code_function *function; /* of a stack's word */
    uint32_t links;
    int64_t offsets[CODE_PATH_LINKS];
    uint32_t size_bytes;
};

/* Of memory operand `operand` of the instruction at `node`. */
void code_path_find(struct code_budget *budget, const struct code_scope *scope, uint32_t node,
                    unsigned operand, struct code_path *ret);

/* Of the memory that general register `reg` points to before the instruction at `node`. */
void code_path_find_pointed(struct code_budget *budget, const struct code_scope *scope,
                            uint32_t node, uint8_t reg, struct code_path *ret);

/* Where the pointer leads that the instruction at `node` stores: mov [board], rax. False: it stores
 * none, or code does not tell. */
bool code_path_find_stored(struct code_budget *budget, const struct code_scope *scope,
                           uint32_t node, struct code_path *ret);

/* Whether both name the same, whatever the size. Never for what is unknown. What the program mapped at two places of its code counts as the
 * same. */
bool code_path_is_same(const struct code_path *a, const struct code_path *b);

#endif
