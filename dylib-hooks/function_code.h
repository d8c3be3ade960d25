/* One function, decoded once: where its instructions begin, and every address in it that something jumps to. */
#ifndef ARGUS_HOOKS_FUNCTION_CODE_H
#define ARGUS_HOOKS_FUNCTION_CODE_H

#include "image.h"
#include "insn_decode.h"

struct jump_target {
    uint64_t to, from;
    const char *what; /* static: "the branch", "a jump table" … */
};

struct function_code {
    const struct image *image; /* borrowed, as the decoder */
    struct decoder *decoder;
    uint64_t first, end;
    VEC(uint64_t) starts;            /* of instructions, in order */
    VEC(struct jump_target) targets; /* by `to` */
    uint64_t undecoded;              /* where decoding ended; `end` when all could be */
};

/* The function that has `address`. An error: that is not known, or no code. */
struct argus_error *function_code_create(const struct image *image, struct decoder *decoder,
                                         uint64_t address, struct function_code *ret);
void function_code_deinit(struct function_code *code);

/* NULL: an instruction begins at `address`. */
struct argus_error *function_code_check_start(const struct function_code *code, uint64_t address);
/* The first target that is at least `first` and below `end`; NULL: none. */
const struct jump_target *function_code_target(const struct function_code *code, uint64_t first,
                                               uint64_t end);

/* jump_targets.c: fills `targets`, unsorted. */
struct argus_error *jump_targets_collect(struct function_code *code);

#endif
