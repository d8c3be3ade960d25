/* What the function names in call stacks tell about waits and wake-ups: patterns.def. */
#ifndef ARGUS_GRAPH_PATTERNS_H
#define ARGUS_GRAPH_PATTERNS_H

#include "argus/symbols.h"
#include "base/idmap.h"
#include "base/vec.h"

enum pattern {
    PATTERN_AWAITS = 1,
    PATTERN_LOCKS = 2,
    PATTERN_SIGNALS = 4,
    PATTERN_UNLOCKS = 8,
    PATTERN_CLEARS = 16,
    PATTERN_PARKS = 32,
    PATTERN_PLUMBING = 64,
    PATTERN_BATCHES = 128,
};

/* Names are looked up when first needed and cached by address and process. Zeroed is empty. One
 * thread. */
struct patterns {
    const struct argus_graph *graph; /* borrowed */
    struct argus_symbols *symbols;   /* owned; NULL until the first stack */
    struct idmap by_address;         /* address and process, mixed → patterns */
    bool no_memory;                  /* sticky */
};

/* The pattern of the innermost frame of `stack` that matches any of `wanted`; 0: none. `thread`: a
 * thread that has this stack. */
uint32_t patterns_innermost(struct patterns *patterns, uint32_t stack, uint32_t thread,
                            uint64_t time_ns, uint32_t wanted);
/* Whether the thread waits in a park call: no other frames lie between but those of the wait
 * itself. */
bool patterns_parks(struct patterns *patterns, uint32_t stack, uint32_t thread, uint64_t time_ns);
void patterns_deinit(struct patterns *patterns);

#endif
