/* Records of a tracepoint during an action of this thread. */
#ifndef ARGUS_RECORDER_LINUX_SELF_TRACEPOINT_H
#define ARGUS_RECORDER_LINUX_SELF_TRACEPOINT_H

#include <stddef.h>
#include <stdint.h>

struct self_tracepoint {
    uint32_t id;         /* for perf_event_open() */
    void (*act)(void *); /* the action, a few microseconds at most */
    void (*visit)(void *, const void *raw, size_t raw_bytes); /* for each record of this thread */
    void *context;                                            /* of both */
};

/* Visits nothing if perf_event is refused. */
void self_tracepoint_listen(const struct self_tracepoint *what);

#endif
