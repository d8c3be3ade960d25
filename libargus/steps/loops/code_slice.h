/* What decides a value: a slice backward through code, without a run of it, to the memory from
 * which it was loaded.
 *
 * It stays within a scope: the body of a loop, or a called function. What was computed before the
 * loop cannot end it. Words of the stack are followed to what was stored there. A constant (`return
 * false;`, `done = true;`) hangs on the branches that lead to it. A value that the loop computes
 * from its own former value is a counter; what it is compared with is a bound, as is what the time
 * is compared with. None of these is what another thread would change.
 */
#ifndef ARGUS_STEPS_CODE_SLICE_H
#define ARGUS_STEPS_CODE_SLICE_H

#include "steps/loops/code_paths.h"

#define CODE_SOURCES_MAX 8
#define CODE_SLICE_DEPTH 40

/* The functions of a file, decoded once each. */
struct code_library;
struct slice_memo; /* code_slice_memo.h */

/* Finds functions of other files. */
struct code_files {
    void *context;
    /* The file that has the function `name` for all others, borrowed, and its address there; NULL.
     */
    struct elf_file *(*find)(void *context, const char *name, uint64_t *ret);
};

struct code_step {
    const struct code_function *function;
    uint32_t node;
    unsigned control; /* of the slice, when it began */
    bool is_move;     /* or it only adds bits: `done |= thread->done` counts nothing */
};

struct code_slice {
    struct code_library *library;   /* borrowed */
    struct code_budget *budget;     /* borrowed */
    const struct code_files *files; /* borrowed; NULL: other files are not known */
    struct slice_memo *memo;        /* borrowed, of this loop only; NULL: nothing is remembered */
    uint32_t yield;                 /* the call around which the loop goes */
    const struct code_function *yield_function;
    struct code_path sources[CODE_SOURCES_MAX];
    /* by source: within how many constants it was found, as `control` was then */
    uint8_t levels[CODE_SOURCES_MAX];
    uint32_t source_count;
    struct code_path limits[CODE_SOURCES_MAX]; /* what the time was compared with */
    uint32_t limit_count;
    bool found;          /* a source, perhaps one that was there already */
    bool counts;         /* a counter, or its bound, has a part in it */
    bool summed;         /* … a sum that begins anew in each turn has: `left += !job->is_done` */
    bool waits_for_time; /* the time has, or what it is compared with */
    bool yields;         /* the result of the waiting itself has, or errno */
    bool is_unknown;     /* something has that the code does not tell: a call's result, an object, a
                            variable at the stack */
    struct code_step open[CODE_SLICE_DEPTH]; /* what is being followed */
    uint32_t open_count;
    unsigned control; /* how many constants are being followed to their branches */
    bool is_adding;   /* what is added to a sum is being followed, or what decides whether it is */
    bool is_flat;     /* follow neither them nor calls, and only a few instructions back */
    bool cycled;      /* the comparison that is being followed has a counter */
    bool timed;       /* … has the time */
    bool sums;        /* … has a sum that begins anew in each turn */
};

/* Adds what decides whether the branch at `node` is taken. */
void code_slice_branch(struct code_slice *slice, const struct code_scope *scope, uint32_t node);
/* … and what decides whether the instruction at `node` is reached in a turn of the loop. */
void code_slice_control(struct code_slice *slice, const struct code_scope *scope, uint32_t node);

/* A word that nobody writes, such as a number that code compares with. */
bool code_path_is_constant(const struct code_path *path);

/* What the slice has more; the same once. `level`: as in `levels`. */
void code_slice_add_source(struct code_slice *slice, const struct code_path *path, uint8_t level);
void code_slice_add_limit(struct code_slice *slice, const struct code_path *path);

/* What the slice had before one side of a comparison, or all of them, is followed. At its end,
 * everything that was found beside a counter or the time is its bound; beside a sum, what is not
 * summed up is. */
struct slice_side {
    uint32_t source_count;
    bool cycled, is_unknown, timed, sums;
};
struct slice_side slice_side_begin(struct code_slice *slice);
void slice_side_end(struct code_slice *slice, const struct slice_side *side);

/* If the loop looks at a sum, what is summed up comes before what the sum's loop is bounded by. */
void code_slice_put_summed_first(struct code_slice *slice);

/* Removes the sources that are also compared with the time: `if (limit > 0 && now >= limit)` looks
 * at a time-out, which no other thread is expected to change. */
void code_slice_drop_limits(struct code_slice *slice);

/* NULL without memory. The decoder is borrowed. */
struct code_library *code_library_create(struct instruction_decoder *decoder);
void code_library_destroy(struct code_library *library);
/* The image of a file, the same for the same file; borrowed. NULL without memory. */
const struct code_image *code_library_image(struct code_library *library, struct elf_file *file);
/* Borrowed. NULL: it cannot be decoded. */
const struct code_function *code_library_function(struct code_library *library,
                                                  const struct code_image *image, uint64_t address);

#endif
