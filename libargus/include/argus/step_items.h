/* What a thread did in an instruction trace: calls with arguments and results, branches, signals,
 * and on request each instruction, one after the other. */
#ifndef ARGUS_STEP_ITEMS_H
#define ARGUS_STEP_ITEMS_H

#include "argus/diverge.h"

#ifdef __cplusplus
extern "C" {
#endif

enum argus_step_item_kind {
    ARGUS_STEP_ITEM_CALL,   /* of a function that was stepped */
    ARGUS_STEP_ITEM_RETURN, /* from one */
    ARGUS_STEP_ITEM_SKIP,   /* a call that was stepped over: of a library, a system call */
    ARGUS_STEP_ITEM_SIGNAL, /* one was delivered after this step; its handler was not stepped */
    ARGUS_STEP_ITEM_BRANCH, /* a conditional branch */
    ARGUS_STEP_ITEM_INSTRUCTION, /* any other; only if instructions are wanted */
};

struct argus_step_item {
    enum argus_step_item_kind kind;
    uint32_t step;
    uint32_t depth;                /* open calls around it, as far as the trace shows them */
    struct argus_code_place place; /* of the step's instruction */
    /* INSTRUCTION: the memory that it accesses: "app->net->state", by debug information, or else
     * "window->0x18", "done+0x4"; NULL: none, or not known */
    const char *memory;
    const char *memory_in; /* the function whose local variable `memory` begins with; NULL: none */
    /* CALL, SKIP: the function; RETURN, BRANCH: where it went on. Address 0: the trace ends here.
     */
    struct argus_code_place target;
    bool is_taken;         /* BRANCH: it did not go on with the next instruction */
    bool has_value;        /* RETURN, SKIP: `value` is the result */
    uint64_t arguments[6]; /* CALL, SKIP: the registers of the integer arguments */
    uint64_t value;
    uint32_t signal; /* SIGNAL */
};

struct argus_step_items_wanted {
    bool branches, instructions;
    uint32_t first_step, last_step; /* inclusive */
};

/* Called for each item in the order of execution; false ends the walk. Strings are valid until
 * argus_step_items() returns. */
typedef bool (*argus_step_item_function)(void *context, const struct argus_step_item *item);

/* `steps` is borrowed for the call. */
struct argus_error *argus_step_items(struct argus_steps *steps,
                                     const struct argus_step_items_wanted *wanted,
                                     argus_step_item_function function, void *context);

#ifdef __cplusplus
}
#endif
#endif
