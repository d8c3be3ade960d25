/* Pipes and FIFOs: the processes that have the other side open. */
#include "live/live_wait.h"

/* The waiting process itself is the answer only if no other process has that side open: then nobody
 * but its own threads can end the wait. A process with one thread cannot. */
static void add_others(struct argus_live *live, uint32_t thread, const struct live_fd *fds,
                       size_t count, bool writing, struct live_candidates *ret)
{
    uint32_t own = live->threads.data[thread].process;
    bool is_own = false;
    for (size_t i = 0; i < count; i++) {
        if (!live_fd_is_open_for(live, &fds[i], writing))
            continue;
        if (fds[i].process == own)
            is_own = true;
        else if (live_load(live, fds[i].process))
            live_candidate(ret, fds[i].process, ARGUS_LIVE_NONE);
    }
    if (!ret->count && is_own && live->processes.data[own].thread_count > 1)
        live_candidate(ret, own, ARGUS_LIVE_NONE);
}

/* Whether the process has both ends. */
static bool has_both_ends(struct argus_live *live, uint32_t process, const struct live_fd *fds,
                          size_t count)
{
    bool reads = false, writes = false;
    for (size_t i = 0; i < count; i++)
        if (fds[i].process == process) {
            reads |= live_fd_is_open_for(live, &fds[i], false);
            writes |= live_fd_is_open_for(live, &fds[i], true);
        }
    return reads && writes;
}

/* Whether the pipe carries tokens (make's jobserver) or a process's signals for itself: the waiter
 * has both ends, and so has another process. Each that has the pipe may put one back. A process
 * that has only the end that is needed is no part of that, as the writer of a FIFO that its reader
 * has opened for both, so that it sees no end of file. */
static bool has_tokens(struct argus_live *live, uint32_t own, const struct live_fd *fds,
                       size_t count, const struct live_candidates *candidates)
{
    if (!has_both_ends(live, own, fds, count))
        return false;
    for (uint32_t i = 0; i < candidates->count; i++)
        if (candidates->items[i].process != own &&
            has_both_ends(live, candidates->items[i].process, fds, count))
            return true;
    return false;
}

void live_by_pipe(struct argus_live *live, uint32_t thread, const struct argus_live_wait *wait,
                  struct live_candidates *ret)
{
    const struct live_fd *fds;
    struct live_fd own;
    ret->link = wait->is_write ? ARGUS_LIVE_LINK_READS : ARGUS_LIVE_LINK_WRITES;
    if (!live_fd(live, live->threads.data[thread].process, wait->fd, &own))
        return;
    size_t count = live_fds_of(live, own.type, own.key, &fds);
    add_others(live, thread, fds, count, !wait->is_write, ret);
    ret->is_any = has_tokens(live, own.process, fds, count, ret);
    if (!ret->count && has_both_ends(live, own.process, fds, count) &&
        live_may_signal_itself(live, own.process))
        ret->end = ARGUS_LIVE_END_UNKNOWN;
}
