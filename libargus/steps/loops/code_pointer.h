/* What is known of the value of a register: for code_paths.c and its parts. */
#ifndef ARGUS_STEPS_CODE_POINTER_H
#define ARGUS_STEPS_CODE_POINTER_H

#include "steps/loops/code_paths.h"

enum pointer_kind {
    POINTER_UNKNOWN,
    POINTER_ADDRESS, /* `value` is an address of the file */
    POINTER_FOREIGN, /* the address of a variable of another file */
    POINTER_STACK,   /* `value` bytes above where register `reg` points to */
    POINTER_LOADED,  /* what is at `path`, plus `value` */
    POINTER_MAPPED,  /* `value` bytes behind the beginning of memory that may be shared */
    POINTER_THREAD,  /* `value` bytes behind where the thread's pointer leads */
    POINTER_OBJECT,  /* `value` bytes behind an object: the result of a call, or an argument */
    POINTER_ERRNO,
};

struct pointer {
    enum pointer_kind kind;
    int64_t value;
    uint8_t reg; /* of an object, REGISTER_NONE: the call at `node` of `function` returned it */
    uint32_t node;
    bool is_element; /* plus some elements of an array */
    bool is_distant; /* … or plus bytes, of which a variable has the number */
    uint64_t code; /* of a word of the stack: an instruction of `function` that makes the pointer */
    const char *name;
    const struct code_image *image;
    const struct code_function *function;
    struct code_path path; /* of an object: only what is seen of it */
};

struct finder {
    struct code_budget *budget;
    unsigned depth;
};

/* Of register `reg` before the instruction at `node`. */
void code_pointer_find(struct finder *finder, const struct code_scope *scope, uint32_t node,
                       uint8_t reg, struct pointer *ret);

/* Of the sum of `registers` at `node`: a pointer to an element, if one of them is a pointer to an
 * array and the others are no pointers. What the instruction adds counts. */
void code_pointer_find_element(struct finder *finder, const struct code_scope *scope, uint32_t node,
                               uint64_t registers, struct pointer *ret);

/* The same of the sum of a register and the word of memory that the instruction at `node` reads,
 * which has one of the two pointers (code_adds_memory()). */
void code_pointer_find_added(struct finder *finder, const struct code_scope *scope, uint32_t node,
                             const struct pointer *loaded, struct pointer *ret);

/* A program of a fixed address names its arrays in the instruction: [rdi + elements]. If `added`,
 * which was added to `pointer`, is the address of such data, that becomes a pointer to an element
 * there. */
bool code_pointer_take_array(const struct code_image *image, int64_t added,
                             struct pointer *pointer);

#endif
