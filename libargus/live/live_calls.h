/* System calls that have the same arguments on Linux and macOS. Each function sets what the call
 * waits for; a row of the system's table of calls names it (live_wait.c, macos/mac_calls.c). */
#ifndef ARGUS_LIVE_CALLS_H
#define ARGUS_LIVE_CALLS_H

#include "live/live_wait.h"

struct live_call {
    struct argus_live *live;
    const struct argus_live_thread *of;
    uint32_t thread;
    struct argus_live_wait *wait;
};

typedef void live_read_call(const struct live_call *call);

/* Calls of the descriptor in the first argument. */
live_read_call live_in_read;
live_read_call live_in_write;
live_read_call live_in_flock;
/* Calls of several descriptors. */
live_read_call live_in_poll;
live_read_call live_in_select;
/* The others. */
live_read_call live_in_sleep;
live_read_call live_in_signal;
live_read_call live_in_wait4;

#endif
