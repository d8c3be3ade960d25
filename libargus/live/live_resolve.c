/* What is waited for → who can end it: live_rules has a row for each kind of wait that this system
 * has (live_rules.c, macos/mac_rules.c). A kind without a row ends the walk, with the reason below.
 *
 * A rule names only processes that have the other end of the very object: it never guesses from
 * names or from what a process usually does. */
#include "live/live_wait.h"

void live_candidate(struct live_candidates *candidates, uint32_t process, uint32_t thread)
{
    for (uint32_t i = 0; i < candidates->count; i++)
        if (candidates->items[i].process == process && candidates->items[i].thread == thread)
            return;
    if (candidates->count == LIVE_CANDIDATES)
        return;
    candidates->items[candidates->count].process = process;
    candidates->items[candidates->count++].thread = thread;
}

/* Why a walk ends at the kinds without a rule. */
static const enum argus_live_end ends[ARGUS_LIVE_KINDS] = {
    [ARGUS_LIVE_RUNS] = ARGUS_LIVE_END_RUNS,
    [ARGUS_LIVE_STOPPED] = ARGUS_LIVE_END_STOPPED,
    [ARGUS_LIVE_FROZEN] = ARGUS_LIVE_END_STOPPED,
    [ARGUS_LIVE_ZOMBIE] = ARGUS_LIVE_END_ZOMBIE,
    [ARGUS_LIVE_UNREADABLE] = ARGUS_LIVE_END_DENIED,
    [ARGUS_LIVE_SOCKET] = ARGUS_LIVE_END_UNKNOWN,
    [ARGUS_LIVE_GOROUTINE] = ARGUS_LIVE_END_UNKNOWN,
    [ARGUS_LIVE_ACCEPT] = ARGUS_LIVE_END_IDLE,
    [ARGUS_LIVE_SIGNAL] = ARGUS_LIVE_END_SIGNAL,
    [ARGUS_LIVE_SLEEP] = ARGUS_LIVE_END_SLEEPS,
    [ARGUS_LIVE_REQUEST] = ARGUS_LIVE_END_IDLE,
    [ARGUS_LIVE_DEVICE] = ARGUS_LIVE_END_DEVICE,
    [ARGUS_LIVE_OTHER] = ARGUS_LIVE_END_UNKNOWN,
    [ARGUS_LIVE_IO] = ARGUS_LIVE_END_IDLE,
    [ARGUS_LIVE_FROZEN_FS] = ARGUS_LIVE_END_STOPPED,
    [ARGUS_LIVE_MEMORY] = ARGUS_LIVE_END_STOPPED,
    [ARGUS_LIVE_REMOTE_FS] = ARGUS_LIVE_END_REMOTE,
    [ARGUS_LIVE_DISK] = ARGUS_LIVE_END_DEVICE,
    [ARGUS_LIVE_SUSPENDED] = ARGUS_LIVE_END_STOPPED,
    [ARGUS_LIVE_KERNEL_REPLY] = ARGUS_LIVE_END_DEVICE,
    [ARGUS_LIVE_MACH_RECEIVE] = ARGUS_LIVE_END_IDLE,
    [ARGUS_LIVE_KQUEUE] = ARGUS_LIVE_END_IDLE,
    [ARGUS_LIVE_WORKER] = ARGUS_LIVE_END_IDLE,
};

void live_resolve(struct argus_live *live, uint32_t thread, const struct argus_live_wait *wait,
                  struct live_candidates *ret)
{
    *ret = (struct live_candidates){.end = ARGUS_LIVE_END_NOBODY};
    if (live_rules[wait->kind])
        live_rules[wait->kind](live, thread, wait, ret);
    else
        ret->end = ends[wait->kind];
}

bool live_is_idle(enum argus_live_kind kind)
{
    switch (kind) {
    case ARGUS_LIVE_EVENTS:
    case ARGUS_LIVE_ACCEPT:
    case ARGUS_LIVE_CONDITION:
    case ARGUS_LIVE_FUTEX:
    case ARGUS_LIVE_EVENTFD:
    case ARGUS_LIVE_SIGNAL:
    case ARGUS_LIVE_ZOMBIE:
    case ARGUS_LIVE_IO:
    case ARGUS_LIVE_REQUEST:
    case ARGUS_LIVE_OTHER:
    case ARGUS_LIVE_GOROUTINE:
    case ARGUS_LIVE_ULOCK:
    case ARGUS_LIVE_SEMAPHORE:
    case ARGUS_LIVE_MACH_RECEIVE:
    case ARGUS_LIVE_KQUEUE:
    case ARGUS_LIVE_WORKER:
        return true;
    default:
        return false;
    }
}
