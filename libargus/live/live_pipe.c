/* Pipes, FIFOs and terminals: the processes that have the other side open. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live/live_wait.h"

enum { INFO_BYTES = 1024, STATUS_BYTES = 4096 };

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

/* Whether a handler of a signal can write to the pipe: programs wait so for their children (sudo).
 * Signals of faults do not come while the process sleeps; the C library has 32 and 33 for itself.
 */
static bool may_signal_itself(uint32_t pid)
{
    static const int others[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, 32, 33};
    char text[STATUS_BYTES];
    uint64_t caught = 0;
    if (live_read(pid, "status", text, sizeof(text)) <= 0 ||
        !live_field(text, "SigCgt:", 16, &caught))
        return true;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        caught &= ~(1ull << (others[i] - 1));
    return caught != 0;
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
        may_signal_itself(live->processes.data[own.process].pid))
        ret->end = ARGUS_LIVE_END_UNKNOWN;
}

/* A FIFO that nobody has opened from the other side: nobody is known who will. */
void live_by_fifo(struct argus_live *live, uint32_t thread, const struct argus_live_wait *wait,
                  struct live_candidates *ret)
{
    (void)live, (void)thread, (void)wait;
    ret->end = ARGUS_LIVE_END_NOBODY;
}

static bool is_terminal(struct argus_live *live, const struct live_fd *fd, uint64_t number)
{
    char info[INFO_BYTES];
    uint64_t index;
    return live_fd_info(live, fd->process, fd->fd, info, sizeof(info)) &&
           live_field(info, "tty-index:", 10, &index) && index == number;
}

/* Input comes from a person. Output that is not taken: by the process that shows the terminal. */
void live_by_terminal(struct argus_live *live, uint32_t thread, const struct argus_live_wait *wait,
                      struct live_candidates *ret)
{
    static const char *const masters[] = {"/dev/ptmx", "/dev/pts/ptmx"};
    static const char slave[] = "/dev/pts/";
    const char *path = strtab_get(live->texts, wait->text);
    (void)thread;
    ret->link = ARGUS_LIVE_LINK_TERMINAL;
    ret->end = ARGUS_LIVE_END_PERSON;
    if (!wait->is_write || strncmp(path, slave, strlen(slave)) != 0)
        return;
    ret->end = ARGUS_LIVE_END_UNKNOWN;
    uint64_t number = strtoull(path + strlen(slave), NULL, 10);
    for (size_t i = 0; i < sizeof(masters) / sizeof(masters[0]); i++) {
        const struct live_fd *fds;
        size_t count = live_fds_of(live, LIVE_FILE_PATH, live_path_key(masters[i]), &fds);
        for (size_t k = 0; k < count; k++)
            if (is_terminal(live, &fds[k], number) && live_load(live, fds[k].process))
                live_candidate(ret, fds[k].process, ARGUS_LIVE_NONE);
    }
}

/* An eventfd has an ID (since Linux 5.2). Only threads that have it open can write to it: if it is
 * this process alone, nothing tells which of its threads should. */
void live_by_eventfd(struct argus_live *live, uint32_t thread, const struct argus_live_wait *wait,
                     struct live_candidates *ret)
{
    char info[INFO_BYTES];
    uint64_t id, other;
    const struct live_fd *fds;
    uint32_t process = live->threads.data[thread].process;
    ret->link = ARGUS_LIVE_LINK_WRITES;
    ret->end = ARGUS_LIVE_END_UNKNOWN;
    if (!live_fd_info(live, process, wait->fd, info, sizeof(info)) ||
        !live_field(info, "eventfd-id:", 10, &id))
        return;
    size_t count = live_fds_of(live, LIVE_FILE_EVENTFD, 0, &fds);
    for (size_t i = 0; i < count; i++)
        if (fds[i].process != process &&
            live_fd_info(live, fds[i].process, fds[i].fd, info, sizeof(info)) &&
            live_field(info, "eventfd-id:", 10, &other) && other == id &&
            live_load(live, fds[i].process))
            live_candidate(ret, fds[i].process, ARGUS_LIVE_NONE);
}
