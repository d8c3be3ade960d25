/* The callbacks that a thread is executing: on_callback.c. */
#ifndef ARGUS_GRAPH_ON_CALLBACK_H
#define ARGUS_GRAPH_ON_CALLBACK_H

#include "graph/build/actor.h"

struct builder;

/* Open callbacks, outermost first. */
#define MOST_OPEN_CALLBACKS 4
#define UNTIL_ITS_END       UINT64_MAX
struct open_callback {
    /* the stack pointer when it began; UNTIL_ITS_END: the stack pointer does not tell its end */
    uint64_t sp;
    uint32_t unit; /* index of the user's rule that defines it as a unit of work, or ARGUS_NONE */
    bool is_ui;    /* it handles a UI event */
    bool has_loop; /* it runs an event loop of its own */
    /* a user's unit that may have ended, because the thread polled or slept since */
    bool doubtful;
};

struct open_callbacks {
    struct open_callback entries[MOST_OPEN_CALLBACKS];
    struct actor loop; /* the last segment of the event loop itself, and its end */
    uint8_t depth;
    bool has_turns; /* probes report the turns of the loop */
};

/* ARGUS_VERTEX_CONTINUES if the thread continues, after the wait that has just ended, what it did
 * before it; otherwise 0. */
uint32_t callback_continuation(struct builder *builder, uint32_t thread);

#endif
