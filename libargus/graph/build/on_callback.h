/* Callbacks in progress of a thread: on_callback.c. */
#ifndef ARGUS_GRAPH_ON_CALLBACK_H
#define ARGUS_GRAPH_ON_CALLBACK_H

#include "graph/build/actor.h"

struct builder;

/* Callbacks in progress, outermost first. */
#define MOST_OPEN_CALLBACKS 4
#define UNTIL_ITS_END       UINT64_MAX
struct open_callback {
    /* the stack pointer when it began; UNTIL_ITS_END: that does not tell when it ends */
    uint64_t sp;
    uint32_t unit; /* index of the user's rule by which it is one, or ARGUS_NONE */
    bool is_ui;    /* it was handed a UI event */
    bool has_loop; /* it runs an event loop of its own */
    bool doubtful; /* a user's unit that may have ended: the thread polled or slept since */
};

struct open_callbacks {
    struct open_callback entries[MOST_OPEN_CALLBACKS];
    struct actor loop; /* the last segment that was the event loop's own, and when it ended */
    uint8_t depth;
    bool has_turns; /* turns of the loop are reported */
};

/* ARGUS_VERTEX_CONTINUES, if the thread goes on behind the wait that has just ended with what it did before. */
uint32_t callback_goes_on(struct builder *builder, uint32_t thread);

#endif
