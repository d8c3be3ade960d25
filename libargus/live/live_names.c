/* IDs of kinds, ends and links, as JSON has them. */
#include <stddef.h>

#include "argus/live.h"

static const char *const kinds[] = {
#define LIVE_KIND(name, id) id,
#include "argus/live_kinds.def"
#undef LIVE_KIND
};

static const char *const ends[] = {
    [ARGUS_LIVE_END_RUNS] = "runs",       [ARGUS_LIVE_END_SLEEPS] = "sleeps",
    [ARGUS_LIVE_END_STOPPED] = "stopped", [ARGUS_LIVE_END_IDLE] = "idle",
    [ARGUS_LIVE_END_PERSON] = "person",   [ARGUS_LIVE_END_DEVICE] = "device",
    [ARGUS_LIVE_END_REMOTE] = "remote",   [ARGUS_LIVE_END_SIGNAL] = "signal",
    [ARGUS_LIVE_END_ZOMBIE] = "zombie",   [ARGUS_LIVE_END_CIRCLE] = "circle",
    [ARGUS_LIVE_END_NOBODY] = "nobody",   [ARGUS_LIVE_END_SEVERAL] = "several",
    [ARGUS_LIVE_END_UNKNOWN] = "unknown", [ARGUS_LIVE_END_DENIED] = "denied",
    [ARGUS_LIVE_END_MUTUAL] = "mutual",   [ARGUS_LIVE_END_LONG] = "long",
    [ARGUS_LIVE_END_STUCK] = "stuck",     [ARGUS_LIVE_END_LOST] = "lost",
};

static const char *const links[] = {
    [ARGUS_LIVE_LINK_NONE] = NULL,           [ARGUS_LIVE_LINK_HOLDS] = "holds",
    [ARGUS_LIVE_LINK_JOINED] = "joined",     [ARGUS_LIVE_LINK_WRITES] = "writes",
    [ARGUS_LIVE_LINK_READS] = "reads",       [ARGUS_LIVE_LINK_PEER] = "peer",
    [ARGUS_LIVE_LINK_ACCEPTS] = "accepts",   [ARGUS_LIVE_LINK_CHILD] = "child",
    [ARGUS_LIVE_LINK_TRACES] = "traces",     [ARGUS_LIVE_LINK_SERVES] = "serves",
    [ARGUS_LIVE_LINK_BUS] = "bus",           [ARGUS_LIVE_LINK_UNREAD] = "unread",
    [ARGUS_LIVE_LINK_SHARES] = "shares",     [ARGUS_LIVE_LINK_TERMINAL] = "terminal",
    [ARGUS_LIVE_LINK_SIGNALS] = "signals",   [ARGUS_LIVE_LINK_CAUSES] = "causes",
    [ARGUS_LIVE_LINK_ANSWERS] = "answers",   [ARGUS_LIVE_LINK_BACKS] = "backs",
    [ARGUS_LIVE_LINK_PROVIDES] = "provides", [ARGUS_LIVE_LINK_OWNS] = "owns",
    [ARGUS_LIVE_LINK_EXECUTES] = "executes", [ARGUS_LIVE_LINK_HALTED] = "halted",
    [ARGUS_LIVE_LINK_HEARD] = "heard",       [ARGUS_LIVE_LINK_REPLIES] = "replies",
    [ARGUS_LIVE_LINK_QUEUED] = "queued",
};

const char *argus_live_kind_id(enum argus_live_kind kind)
{
    return kinds[kind];
}

const char *argus_live_end_id(enum argus_live_end end)
{
    return ends[end];
}

const char *argus_live_link_id(enum argus_live_link link)
{
    return links[link];
}
