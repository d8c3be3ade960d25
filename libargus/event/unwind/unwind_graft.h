/* Continues stacks whose copies were too short, by means of other stacks of the same thread. */
#ifndef ARGUS_EVENT_UNWIND_GRAFT_H
#define ARGUS_EVENT_UNWIND_GRAFT_H

#include "event/unwind/unwinder.h"

/* What is stored about a trace's unwound stacks until all are unwound. All zero is empty. */
struct grafts {
    VEC(struct graft_stack) whole, cut;
    VEC(uint64_t) slots;  /* of the complete stacks */
    VEC(uint64_t) frames; /* of the stacks that were cut off, without the mark */
};

/* An unwound stack; `thread` is its thread. */
struct graft_stack {
    uint64_t id, tid, time_ns;
    size_t first; /* index of its first slot or frame */
    uint32_t count, process;
    uint64_t slot; /* of a stack that was cut off: the address of its last frame's return address */
    uint64_t mark; /* … and the mark at its end */
};

/* Stores what `unwound` tells about other stacks or, if it was cut off, holds it back:
 * `*ret_kept_back`. False without memory. */
bool grafts_note(struct grafts *grafts, const struct argus_snapshot *snapshot, uint64_t time_ns,
                 uint32_t process, const struct unwound *unwound, bool *ret_kept_back);

/* Adds the stacks that were cut off to `trace`, continued as far as possible. `*ret_continued`: how
 * many were continued. */
struct argus_error *grafts_finish(struct grafts *grafts, struct unwinder *unwinder,
                                  struct argus_trace *trace, uint64_t *ret_continued);

void grafts_deinit(struct grafts *grafts);

#endif
