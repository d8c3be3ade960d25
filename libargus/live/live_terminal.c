/* Terminals, FIFOs that are being opened, and eventfds: the processes that have the other side
 * open; and whether a handler of a signal could write to a pipe. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "live/live_wait.h"

enum { INFO_BYTES = 1024, STATUS_BYTES = 4096 };

/* Whether a handler of a signal can write to the pipe: programs wait so for their children (sudo).
 * Signals of faults do not come while the process sleeps; the C library has 32 and 33 for itself.
 */
bool live_may_signal_itself(const struct argus_live *live, uint32_t process)
{
    static const int others[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, 32, 33};
    char text[STATUS_BYTES];
    uint64_t caught = 0;
    if (live_read(live->processes.data[process].pid, "status", text, sizeof(text)) <= 0 ||
        !live_field(text, "SigCgt:", 16, &caught))
        return true;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        caught &= ~(1ull << (others[i] - 1));
    return caught != 0;
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
