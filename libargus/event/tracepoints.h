/* The rows of tracepoints.def. */
#ifndef ARGUS_EVENT_TRACEPOINTS_H
#define ARGUS_EVENT_TRACEPOINTS_H

#include "argus/event.h"

enum tracepoint_id {
#define TRACEPOINT(symbol, debugid, name, paired, ...) TRACEPOINT_##symbol,
#include "event/tracepoints.def"
#undef TRACEPOINT
    TRACEPOINT_COUNT
};

struct tracepoint {
    const char *name;
    uint32_t debugid; /* without function bits */
    bool paired;
    const char *arg[4]; /* names; "" if unused; a leading '#': hexadecimal */
};

extern const struct tracepoint tracepoints[TRACEPOINT_COUNT];

/* The row of a debugid, or NULL. */
const struct tracepoint *tracepoint_find(uint32_t debugid);

/* Every system call has its own debugid; these bits are common to all of them. */
static inline bool tracepoint_is_syscall(uint32_t debugid)
{
    return debugid >> 16 == ARGUS_ID_SYSCALL(0) >> 16;
}

/* The 32 bytes of text in a name record; `ret` has room for 33. */
void tracepoint_name_bytes(const struct argus_record *record, char ret[33]);

#endif
