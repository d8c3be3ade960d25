/* What a slice remembers of what it has followed, so that it follows nothing twice.
 *
 * Values that hang on each other are found together: an instruction that leads back to one that is
 * still being followed has what that one has, once that is known (Tarjan, "Depth-first search and
 * linear graph algorithms", 1972).
 */
#ifndef ARGUS_STEPS_CODE_SLICE_MEMO_H
#define ARGUS_STEPS_CODE_SLICE_MEMO_H

#include "steps/loops/code_slice.h"

#define SLICE_BRANCH 0xff /* instead of a register: what decides a branch */

/* What was found; sources and limits by their numbers. */
struct slice_effect {
    uint16_t sources[CODE_SOURCES_MAX], limits[CODE_SOURCES_MAX];
    uint8_t levels[CODE_SOURCES_MAX];
    uint32_t source_count, limit_count;
    bool found, counts, summed, waits_for_time, yields, is_unknown, cycled, timed, sums;
};

struct slice_visit {
    struct slice_effect before;
    uint64_t key;
    uint32_t low;     /* of the visit around this one */
    uint32_t pending; /* how many were, when it began */
    bool is_kept;
};

/* NULL without memory. */
struct slice_memo *slice_memo_create(void);
void slice_memo_destroy(struct slice_memo *memo);

/* Adds what was found when register `reg` of the instruction was followed before. False: it was
 * not. */
bool slice_memo_recall(struct code_slice *slice, const struct code_scope *scope, uint32_t node,
                       uint8_t reg);
/* Between these, the slice has only what is found for this instruction. Without a memo they do
 * nothing. */
void slice_visit_begin(struct code_slice *slice, const struct code_scope *scope, uint32_t node,
                       uint8_t reg, struct slice_visit *ret);
void slice_visit_end(struct code_slice *slice, const struct slice_visit *visit);
/* It has come back to what is open[index]. */
void slice_memo_comes_back(const struct code_slice *slice, uint32_t index);

#endif
