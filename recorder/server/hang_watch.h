/* Finds hangs while they happen: threads that have come back from poll, select or epoll several
 * times, and then stay outside it for too long.
 *
 * Threads are examined a few times a second, so a hang may be found up to one interval late. Not a
 * hang:
 * - a thread that waits in its loop's poll, unless something has woken it and it gets no cpu;
 * - a thread of a process that is stopped (by a signal or a debugger), unless a signal stopped a
 *   main thread with windows, and input for its loop is pending;
 * - a shell that has given its terminal to a command;
 * - time in which the machine was suspended (the clock stops), or in which this process itself did
 *   not run.
 *
 * A handler that polls is outside the loop's own poll, but it may be a nested loop (a modal
 * dialog), or the program may have moved on to another loop. Time in a handler's polls counts as a
 * hang in these cases:
 * - input for the loop's own poll is pending, and the handler's does not serve a window of another
 *   connection to a display server (a dialog of another toolkit);
 * - the thread is a main thread whose loop has returned often, and hardly anything ends the polls
 *   in the handler: then the user may not have given any input yet.
 *
 * - the loop's poll takes from the display server and the handler's poll does not, and data that
 *   the process sent to another one is still unread: it waits for a reply (a call to a service that
 *   is stopped).
 *
 * A main thread with windows that has never rested in a poll has not reached its loop yet. Then a
 * poll that takes neither from the display server nor from a terminal is a hang, too, if no other
 * thread takes from them.
 *
 * It does not count if the handler's poll covers all that the loop's own poll waits for, or takes
 * the keys typed in a terminal (a prompt, a viewer), unless data that the process sent there is
 * still unread: then it waits for a reply. Once a thread is outside every poll, its earlier polls
 * in the handler do not excuse it.
 *
 * Some threads may be outside their poll without harm. Not counted are threads of a process that
 * has no window (a compiler, a script, a server), unless the user named it, or has typed in the
 * terminal that it reads keys from. Without pending input for their loop these are not counted:
 * - a thread that waits for a child process;
 * - a thread that waits at a futex and has never waited long in a poll, because another thread
 *   polls for it (Tcl);
 * - a thread that is not the main thread, and waits at a futex: a worker of a pool polls for one
 *   task, and then waits there for the next.
 *
 * A process has at most one open hang, and besides another thread's one of its main thread. Each
 * hang is reported once: when it ends, or when it has lasted HANG_REPORT_AFTER_NS longer than the
 * limit. A hang has not ended if the thread is away again after a moment.
 *
 * What only the analysis can tell from normal work is reported as doubtful:
 * - a main thread with windows is in a handler that polls, and none of the reasons above counts;
 * - a main thread with windows polls in another place than usually, while at every look a client of
 *   the display server has unread data from it: the thread may wait for that client (the owner of a
 *   clipboard). Such a doubt begins at the first look that found unread data;
 * - a main thread without polls, which works for another process's windows, is away from its wait
 *   for a condition (linux/condition_loops.h);
 * - a thread that is not the main thread, and may handle the events of its process's windows, is
 *   away from such a wait;
 * - a main thread without polls, in the foreground of a terminal, is away from its read of that
 *   terminal;
 * - a main thread that polls and works for another process's windows, as for a page of a browser,
 * is away from its loop while input for that loop is pending;
 * - a program waited, and hardly ran, while it started (hang_starts.h);
 * - a main thread was not at home for long, and a command that it started lives, or it waits for a
 *   new connection (hang_places.h).
 */
#ifndef ARGUS_RECORDER_HANG_WATCH_H
#define ARGUS_RECORDER_HANG_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "argus/error.h"
#include "server/backend.h"
#include "server/proc_stat.h"

#define HANG_REPORT_AFTER_NS 10000000000ull
#define HANG_RESTING_NS      250000000ull /* a longer wait in a poll is no wait for a reply */

struct hang_watch;

/* What the watch finds out about a thread. */
struct hang_sight {
    char process[PROTOCOL_COMM_BYTES]; /* its process's comm */
    uint64_t started_ns;               /* when its process began; the trace clock; 0: unknown */
    uint64_t ran_ns;                   /* its cpu time; 0: unknown */
    bool stopped;                      /* by a signal, not by a debugger */
    bool excused;            /* its process is stopped, or another process group has its terminal */
    bool at_child, at_futex; /* it waits for a child process; it waits at a futex */
    bool wants_cpu;          /* it runs, or could run */
    bool in_foreground;      /* its process is in the foreground of a terminal */
};

/* The watch's questions to the operating system; tests pass their own functions. */
struct hang_system {
    /* False if the thread does not exist. */
    bool (*look)(uint32_t pid, uint32_t tid, struct hang_sight *ret);
    /* Whether the process has readable input in the set, as poll_set_is_ready(). */
    bool (*is_ready)(const struct poll_set *set, uint32_t pid);
    /* Whether data that the process sent there is still unread, as poll_set_is_untaken(). */
    bool (*is_untaken)(const struct poll_set *set, uint32_t pid);
    bool (*has_window)(uint32_t pid);
    /* As process_works_for_windows(). */
    bool (*works_for_windows)(uint32_t pid);
    /* Whether the user has typed keys that the process has not read, as process_has_typed(). */
    bool (*has_typed)(uint32_t pid);
    /* Whether a descriptor of the set leads to a display server, as poll_set_has_display(). */
    bool (*has_display)(const struct poll_set *set, uint32_t pid);
    /* Whether the poll takes the user's keys, as poll_set_has_terminal(). */
    bool (*has_terminal)(const struct poll_set *set, uint32_t pid);
    /* Whether data that the process sent to a socket is still unread, as process_has_untaken(). */
    bool (*has_untaken)(uint32_t pid);
    /* As display_has_untaken(). */
    bool (*display_has_untaken)(uint32_t pid);
    /* As proc_place_read(). */
    bool (*place)(uint32_t pid, uint32_t tid, struct proc_place *ret);
    /* As process_command_since(). */
    uint64_t (*command_since)(uint32_t pid, uint64_t since_ns);
};
extern const struct hang_system hang_system_proc;

/* `name`: the process to watch; "": every process. */
struct hang_watch *hang_watch_create(uint64_t threshold_ns, const char *name,
                                     const struct hang_system *system); /* NULL without memory */
void hang_watch_destroy(struct hang_watch *watch);

/* Ignores process `pid` from now on; 0: ignores none. */
void hang_watch_leave_out(struct hang_watch *watch, uint32_t pid);

/* Call it a few times a second with the threads that poll. False without memory: hangs may be
 * missed. */
bool hang_watch_look(struct hang_watch *watch, const struct backend_poller *pollers, size_t count,
                     uint64_t now_ns);
/* The next hang to report; false if there is none. */
bool hang_watch_next(struct hang_watch *watch, struct reply_hang *ret);
/* Any thread may ask for the following numbers, also while another one looks. */
/* How many hangs hang_watch_next() will still return, including those that have not ended. */
uint32_t hang_watch_waiting(const struct hang_watch *watch);
/* How many hangs were found so far, without the doubtful ones, … */
uint32_t hang_watch_seen(const struct hang_watch *watch);
/* … and how many doubtful ones were reported. */
uint32_t hang_watch_doubts(const struct hang_watch *watch);

#endif
