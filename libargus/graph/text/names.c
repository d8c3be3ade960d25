/* Names for people and for JSON. */
#include "argus/graph.h"

#define NAME_FUNCTION(function, type, ...)                                                         \
    const char *function(type value)                                                               \
    {                                                                                              \
        static const char *const names[] = {__VA_ARGS__};                                          \
        return (size_t)value < sizeof(names) / sizeof(*names) ? names[value] : "unknown";          \
    }

/* clang-format off */
NAME_FUNCTION(argus_vertex_type_name, enum argus_vertex_type,
    [ARGUS_TYPE_NORMAL] = "Normal",
    [ARGUS_TYPE_LONG_RUNNING] = "LongRunning",
    [ARGUS_TYPE_REPEATED_YIELD] = "RepeatedYield",
    [ARGUS_TYPE_LONG_WAIT] = "LongWait")

NAME_FUNCTION(argus_wait_kind_name, enum argus_wait_kind,
    [ARGUS_WAIT_NONE] = "none",
    [ARGUS_WAIT_FUTEX] = "futex",
    [ARGUS_WAIT_POLL] = "poll",
    [ARGUS_WAIT_READ] = "read",
    [ARGUS_WAIT_WRITE] = "write",
    [ARGUS_WAIT_SLEEP] = "sleep",
    [ARGUS_WAIT_CHILD] = "child",
    [ARGUS_WAIT_SIGNAL] = "signal",
    [ARGUS_WAIT_DISK] = "disk",
    [ARGUS_WAIT_FAULT] = "fault",
    [ARGUS_WAIT_STOPPED] = "stopped",
    [ARGUS_WAIT_KERNEL] = "kernel",
    [ARGUS_WAIT_OTHER] = "other")

NAME_FUNCTION(argus_outcome_name, enum argus_outcome,
    [ARGUS_OUTCOME_SATISFIED] = "satisfied",
    [ARGUS_OUTCOME_TIMED_OUT] = "timed out",
    [ARGUS_OUTCOME_INTERRUPTED] = "interrupted",
    [ARGUS_OUTCOME_KILLED] = "killed",
    [ARGUS_OUTCOME_NEVER] = "never ended",
    [ARGUS_OUTCOME_UNKNOWN] = "unknown")

NAME_FUNCTION(argus_edge_kind_name, enum argus_edge_kind,
    [ARGUS_EDGE_WAKE] = "wake-up",
    [ARGUS_EDGE_TIMER] = "timer",
    [ARGUS_EDGE_FORK] = "fork",
    [ARGUS_EDGE_SEQUENCE] = "sequence",
    [ARGUS_EDGE_MESSAGE] = "message",
    [ARGUS_EDGE_DISPATCH] = "dispatch",
    [ARGUS_EDGE_FLAG] = "data flag",
    [ARGUS_EDGE_SIGNAL] = "signal",
    [ARGUS_EDGE_WORK] = "work",
    [ARGUS_EDGE_BLOCK] = "block I/O")
/* clang-format on */

const char *argus_edge_name(const struct argus_edge *edge)
{
    bool both = edge->message && edge->kind == ARGUS_EDGE_WAKE;
    return both ? "wake-up with message" : argus_edge_kind_name((enum argus_edge_kind)edge->kind);
}
