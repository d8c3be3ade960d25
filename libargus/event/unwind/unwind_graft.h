/* Stacks whose copies were too short, continued by other stacks of the same thread. */
#ifndef ARGUS_EVENT_UNWIND_GRAFT_H
#define ARGUS_EVENT_UNWIND_GRAFT_H

#include "event/unwind/unwinder.h"

/* What is kept of the unwound stacks of one trace until all are. All zero is empty. */
struct grafts {
    VEC(struct graft_stack) whole, cut;
    VEC(uint64_t) slots;  /* of the whole ones */
    VEC(uint64_t) frames; /* of the cut ones, without the mark */
};

/* A stack that was unwound; `thread` tells whose stack it is. */
struct graft_stack {
    uint64_t id, tid, time_ns;
    size_t first; /* of its slots, or its frames */
    uint32_t count, process;
    uint64_t slot; /* of a cut one: where its last frame's return address lies */
    uint64_t mark; /* … and what it ends with */
};

/* Keeps what `unwound` tells about others, or, when it is cut, keeps it back: `*ret_kept_back`. False without memory. */
bool grafts_note(struct grafts *grafts, const struct argus_snapshot *snapshot, uint64_t time_ns,
                 uint32_t process, const struct unwound *unwound, bool *ret_kept_back);

/* Adds the cut stacks to `trace`, continued as far as is known. `*ret_continued`: how many. */
struct argus_error *grafts_finish(struct grafts *grafts, struct unwinder *unwinder,
                                  struct argus_trace *trace, uint64_t *ret_continued);

void grafts_deinit(struct grafts *grafts);

#endif
