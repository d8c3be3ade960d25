/* One decoded function: where its instructions begin, every address in it that is a jump target,
 * and which of its instructions are reachable (function_flow.c). */
#ifndef ARGUS_HOOKS_FUNCTION_CODE_H
#define ARGUS_HOOKS_FUNCTION_CODE_H

#include "image.h"
#include "insn_decode.h"

enum target_kind {
    TARGET_OF_BRANCH,  /* of the function itself */
    TARGET_OF_TABLE,   /* of jumps, or a pointer in data */
    TARGET_OF_FAR,     /* of an apparent branch elsewhere */
    TARGET_OF_ADDRESS, /* the address is taken: code or data */
    TARGET_OF_DATA,    /* data among the code */
};

struct jump_target {
    uint64_t to, from;
    const char *what; /* static: "the branch", "a jump table" … */
    enum target_kind kind;
};

enum reached { REACHED_NOT, REACHED_START, REACHED_INSIDE };

struct function_code {
    const struct image *image; /* borrowed, as the decoder */
    struct decoder *decoder;
    uint64_t first, end;
    VEC(uint64_t) starts;            /* of instructions, in order; also of what may be data */
    VEC(struct jump_target) targets; /* by `to` */
    uint8_t *reached;                /* for each byte, enum reached; owned */
};

/* Decodes the function that contains `address`. An error: it is unknown, or not code. */
struct argus_error *function_code_create(const struct image *image, struct decoder *decoder,
                                         uint64_t address, struct function_code *ret);
void function_code_deinit(struct function_code *code);

/* Decodes the instruction at `at`. False: it cannot be decoded, or extends beyond the function. */
bool function_code_insn(const struct function_code *code, uint64_t at, struct insn *ret);
/* NULL: a reachable instruction begins at `address`. Otherwise why not. */
struct argus_error *function_code_check_start(const struct function_code *code, uint64_t address);
/* The first target that is at least `first` and below `end`; NULL: none. */
const struct jump_target *function_code_target(const struct function_code *code, uint64_t first,
                                               uint64_t end);

/* jump_targets.c: fills `targets`, unsorted. */
struct argus_error *jump_targets_collect(struct function_code *code);
/* function_flow.c: fills `reached`, then `starts`. */
struct argus_error *function_flow_follow(struct function_code *code);

#endif
