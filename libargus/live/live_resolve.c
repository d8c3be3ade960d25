/* What is waited for → who can end it: a table with a row for each kind of wait. A kind without a
 * row ends the walk, with the reason in the second table.
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

/* To add a kind: a row, and its rule in a file. */
static live_rule *const rules[ARGUS_LIVE_KINDS] = {
    [ARGUS_LIVE_MUTEX] = live_by_mutex,         [ARGUS_LIVE_RWLOCK] = live_by_rwlock,
    [ARGUS_LIVE_JOIN] = live_by_join,           [ARGUS_LIVE_CONDITION] = live_by_condition,
    [ARGUS_LIVE_PIPE] = live_by_pipe,           [ARGUS_LIVE_FIFO_OPEN] = live_by_fifo,
    [ARGUS_LIVE_UNIX_SOCKET] = live_by_socket,  [ARGUS_LIVE_TCP] = live_by_socket,
    [ARGUS_LIVE_EVENTFD] = live_by_eventfd,     [ARGUS_LIVE_TERMINAL] = live_by_terminal,
    [ARGUS_LIVE_FILE_LOCK] = live_by_file_lock, [ARGUS_LIVE_CHILD] = live_by_child,
    [ARGUS_LIVE_TRACED] = live_by_tracer,       [ARGUS_LIVE_FUSE] = live_by_fuse,
    [ARGUS_LIVE_EVENTS] = live_by_events,       [ARGUS_LIVE_FUTEX] = live_by_word,
    [ARGUS_LIVE_UDP] = live_by_socket,          [ARGUS_LIVE_DISK] = live_by_disk,
    [ARGUS_LIVE_PAGE] = live_by_page,           [ARGUS_LIVE_USERFAULT] = live_by_userfault,
};

/* Why a walk ends at the kinds without a rule. */
static const enum argus_live_end ends[ARGUS_LIVE_KINDS] = {
    [ARGUS_LIVE_RUNS] = ARGUS_LIVE_END_RUNS,         [ARGUS_LIVE_STOPPED] = ARGUS_LIVE_END_STOPPED,
    [ARGUS_LIVE_FROZEN] = ARGUS_LIVE_END_STOPPED,    [ARGUS_LIVE_ZOMBIE] = ARGUS_LIVE_END_ZOMBIE,
    [ARGUS_LIVE_UNREADABLE] = ARGUS_LIVE_END_DENIED, [ARGUS_LIVE_SOCKET] = ARGUS_LIVE_END_UNKNOWN,
    [ARGUS_LIVE_GOROUTINE] = ARGUS_LIVE_END_UNKNOWN, [ARGUS_LIVE_ACCEPT] = ARGUS_LIVE_END_IDLE,
    [ARGUS_LIVE_SIGNAL] = ARGUS_LIVE_END_SIGNAL,     [ARGUS_LIVE_SLEEP] = ARGUS_LIVE_END_SLEEPS,
    [ARGUS_LIVE_REQUEST] = ARGUS_LIVE_END_IDLE,      [ARGUS_LIVE_DEVICE] = ARGUS_LIVE_END_DEVICE,
    [ARGUS_LIVE_OTHER] = ARGUS_LIVE_END_UNKNOWN,     [ARGUS_LIVE_IO] = ARGUS_LIVE_END_IDLE,
    [ARGUS_LIVE_FROZEN_FS] = ARGUS_LIVE_END_STOPPED, [ARGUS_LIVE_MEMORY] = ARGUS_LIVE_END_STOPPED,
    [ARGUS_LIVE_REMOTE_FS] = ARGUS_LIVE_END_REMOTE,
};

void live_resolve(struct argus_live *live, uint32_t thread, const struct argus_live_wait *wait,
                  struct live_candidates *ret)
{
    *ret = (struct live_candidates){.end = ARGUS_LIVE_END_NOBODY};
    if (rules[wait->kind])
        rules[wait->kind](live, thread, wait, ret);
    else
        ret->end = ends[wait->kind];
}
