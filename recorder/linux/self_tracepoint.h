/* What a tracepoint says while this thread does something. */
#ifndef ARGUS_RECORDER_LINUX_SELF_TRACEPOINT_H
#define ARGUS_RECORDER_LINUX_SELF_TRACEPOINT_H

#include <stddef.h>
#include <stdint.h>

struct self_tracepoint {
    uint32_t id;         /* as perf_event_open() wants it */
    void (*act)(void *); /* is listened to, a few microseconds at most */
    void (*visit)(void *, const void *raw, size_t raw_bytes); /* for each record of this thread */
    void *context;                                            /* of both */
};

/* Nothing is visited when perf_event refuses. */
void self_tracepoint_listen(const struct self_tracepoint *what);

#endif
