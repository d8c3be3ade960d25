/* Finds hangs while they happen: threads that have come back from poll, select or epoll several times, and then stay away
 * from it for too long.
 *
 * Looked at a few times a second, so a hang is found up to that much late. What is no hang: a thread that waits in its
 * loop's poll; one of a process that is stopped (by a signal or a debugger) or of a shell that has given its terminal
 * to a command; time in which the machine was suspended (the clock stands still) or in which this process itself
 * did not run.
 *
 * A handler that polls by itself is away from the loop, but it may be a nested loop (a modal dialog), or the program may have
 * gone on to another loop. Such time counts as a hang while something that the loop's own poll would have taken lies there. It
 * also counts where nobody has anything to say yet: in a main thread whose loop turned often, while hardly anything
 * ends the polls in the handler. It does not count while the handler's poll looks at all that the loop's looks at, unless what the
 * process has sent there is not taken: then it waits for an answer. Nor does what it was before excuse a thread that polls nowhere any more.
 *
 * Some threads do nothing wrong although they are away. As long as nothing that the loop would have taken lies there, these are not
 * counted: those of a process that has no window (nobody looks at it; a compiler, a script, a server), unless it is named; a thread that
 * waits for a child process; a thread that waits at a futex and has never rested in a poll, since another thread polls
 * for it (Tcl).
 *
 * Of one process one hang is open at a time. It is reported once: when it ends, or before, when it lasts
 * HANG_REPORT_AFTER_NS longer than it takes to be one.
 */
#ifndef ARGUS_RECORDER_HANG_WATCH_H
#define ARGUS_RECORDER_HANG_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "argus/error.h"
#include "backend.h"

#define HANG_REPORT_AFTER_NS 10000000000ull

struct hang_watch;

/* A thread, looked at. */
struct hang_sight {
    char process[PROTOCOL_COMM_BYTES]; /* its process's comm */
    bool excused;                      /* it is stopped, or its terminal is another's */
    bool at_child, at_futex;           /* it waits for a child process; at a futex */
};

/* What the watch asks of the system; the tests have another one. */
struct hang_system {
    /* False when there is no such thread. */
    bool (*look)(uint32_t pid, uint32_t tid, struct hang_sight *ret);
    /* Whether something of the set can be read, in the process: poll_set_is_ready(). */
    bool (*is_ready)(const struct poll_set *set, uint32_t pid);
    /* Whether what the process has sent there is not taken: poll_set_is_untaken(). */
    bool (*is_untaken)(const struct poll_set *set, uint32_t pid);
    bool (*has_window)(uint32_t pid);
};
extern const struct hang_system hang_system_proc;

/* `name` "": of every process. */
struct hang_watch *hang_watch_create(uint64_t threshold_ns, const char *name,
                                     const struct hang_system *system); /* NULL without memory */
void hang_watch_destroy(struct hang_watch *watch);

/* From now on `pid` is not looked at; 0: every process is. */
void hang_watch_leave_out(struct hang_watch *watch, uint32_t pid);

/* To be called a few times a second with the threads that poll. False without memory: hangs may be missed. */
bool hang_watch_look(struct hang_watch *watch, const struct backend_poller *pollers, size_t count,
                     uint64_t now_ns);
/* The next hang to report; false when there is none. */
bool hang_watch_next(struct hang_watch *watch, struct reply_hang *ret);
/* How many are still to be handed out by hang_watch_next(), also those that last. */
uint32_t hang_watch_waiting(const struct hang_watch *watch);
/* How many were found. */
uint32_t hang_watch_seen(const struct hang_watch *watch);

#endif
