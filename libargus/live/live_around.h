/* The search for what is frozen, if nobody says which process. */
#ifndef ARGUS_LIVE_AROUND_H
#define ARGUS_LIVE_AROUND_H

#include "live/live_wait.h"

/* For the answers to pings, and between two looks at the main threads. */
enum { LIVE_PATIENCE_NS = 600000000 };

struct suspect;

struct around {
    struct argus_live *live;
    struct argus_live_overview *ret;
    VEC(struct suspect) suspects;
    VEC(struct argus_live_window) windows;
    VEC(uint32_t) threads;
};

/* Adds the thread to those that the overview names, unless it is there or ARGUS_LIVE_NONE. */
void live_keep_thread(struct around *around, uint32_t thread);

/* Asks the windows of the user's display for a sign of life (live_windows.c). */
void live_ask_windows(struct around *around);

#endif
