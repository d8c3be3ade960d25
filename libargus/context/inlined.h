/* Functions that the compiler inlined, as functions of calling contexts. */
#ifndef ARGUS_CONTEXT_INLINED_H
#define ARGUS_CONTEXT_INLINED_H

#include "context/frames.h"

struct inlined {
    VEC(uint32_t) functions; /* a list for each address: its length, then functions */
    struct idmap by_address; /* address in a process → index in `functions` of its list */
};

void inlined_deinit(struct inlined *inlined);

/* The functions that were inlined at `address`, outermost first, borrowed until the next call.
 * Returns their number. If memory runs out, `frames` knows. */
uint32_t inlined_at(struct inlined *inlined, struct frames *frames, struct frame_space space,
                    uint64_t address, bool is_return, const uint32_t **ret);

#endif
