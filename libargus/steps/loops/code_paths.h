/* Where the memory lies that an instruction names, as far as code tells: from a variable through
 * pointers. */
#ifndef ARGUS_STEPS_CODE_PATHS_H
#define ARGUS_STEPS_CODE_PATHS_H

#include "steps/loops/code_reach.h"

#define CODE_PATH_LINKS 8

enum code_root {
    CODE_UNKNOWN,
    CODE_ADDRESS, /* an address of the file */
    CODE_FOREIGN, /* a variable of another file: `name` */
    CODE_THREAD,  /* thread-local: `address` counts from the thread's pointer */
    CODE_STACK,   /* a word of the stack of `function` */
    /* An object that no variable of a file leads to: what argument register slot.reg of `function`
     * points to, or, if that is REGISTER_NONE, what the call at its node slot.displacement
     * returned. */
    CODE_OBJECT,
    CODE_MAPPED, /* memory that the program mapped and may share: `address` counts from its
                    beginning */
    CODE_ERRNO,
};

#define CODE_DISTANT (UINT32_C(1) << 31) /* of `elements` */

#define CODE_SIGHTINGS 6

/* Before the instruction at `code`, register slot.reg had the pointer to the object, plus `value`;
 * or, if is_slot, the word of the stack had it. */
struct code_sighting {
    uint64_t code;
    int64_t value;
    struct code_slot slot;
    bool is_slot;
};

/* With links: what *(… *(*(root) + offsets[0]) …) + offsets[links - 1] names. */
struct code_path {
    enum code_root root;
    const struct code_image *image; /* borrowed */
    uint64_t address;
    const char *name; /* borrowed from the file */
    struct code_slot slot;
    const struct code_function *function; /* of a stack's word, or an object */
    uint64_t code;                        /* an instruction of it that used the word of the stack */
    struct code_sighting seen[CODE_SIGHTINGS]; /* the object, in `function` or its callees */
    uint32_t seen_count;
    /* of arrays: any number of elements is to be added to the address (bit 0), or to offsets[k - 1]
     * (bit k); CODE_DISTANT: it is no array, a variable has the number of bytes that are added */
    uint32_t elements;
    uint32_t links;
    int64_t offsets[CODE_PATH_LINKS];
    uint32_t size_bytes;
    bool is_lock;         /* code_tries_lock() looks at it */
    const char *taken_by; /* of a lock: the function that tries; borrowed from the file */
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

/* Whether only the stack leads to the memory. */
static inline bool code_path_is_local(const struct code_path *path)
{
    return path->root == CODE_STACK || path->root == CODE_OBJECT;
}

/* Whether both name the same, whatever the size, and whichever elements. Never for what is unknown.
 * What the program mapped at two places of its code counts as the same. */
bool code_path_is_same(const struct code_path *a, const struct code_path *b);

/* Whether both count from the same pointer. `*ret`: how far `path` lies behind `other`. */
bool code_path_is_beside(const struct code_path *path, const struct code_path *other, int64_t *ret);
/* The same if `pointed` may have fewer links: it leads on to `flag`, which is then less than
 * `most_bytes` behind it. */
bool code_path_leads_to(const struct code_path *pointed, const struct code_path *flag,
                        int64_t most_bytes);

#endif
