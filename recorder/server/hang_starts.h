/* Programs that waited for long while they started, for which the user waits: until they had a
 * connection to a display server, or until their main thread first rested in its loop, or turned it
 * for a few seconds (an animation never rests). Whether a
 * program only had much to do, the analysis has to tell: these hangs are doubtful. */
#ifndef ARGUS_RECORDER_HANG_STARTS_H
#define ARGUS_RECORDER_HANG_STARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "server/hang_watch.h"

typedef VEC(struct reply_hang) hang_reports;

/* A process whose main thread polls. */
struct hang_start {
    uint64_t started_ns;
    uint64_t window_ns;  /* the look that first found a window; 0: none yet */
    uint64_t rested_ns;  /* when the main thread began its first rest after that; 0: not yet */
    uint64_t returns;    /* of the main thread's polls, by the last look */
    uint64_t turned_ns;  /* the last look that found more of them than the one before */
    uint64_t turning_ns; /* since when they grow without a pause; 0: they do not */
    bool took_input;     /* meanwhile, a look found a thread in a poll that takes input */
    uint64_t ran_ns;     /* the main thread's cpu time at the end of the start */
    uint32_t pid;
    bool seen; /* by the current look */
    bool done; /* nothing is to be reported any more */
};

/* Whether a thread waits in a poll that may take input: from a display server or a terminal, or its
 * descriptors are not known. */
bool hang_may_take_input(const struct hang_system *system, const struct backend_poller *poller);
/* The same, for any thread of the process. */
bool hang_any_may_take_input(const struct hang_system *system, const struct backend_poller *pollers,
                             size_t count, uint32_t pid);

struct hang_starts {
    uint64_t began_ns; /* the first look; earlier programs are ignored */
    VEC(struct hang_start) list;
};

/* What to report. */
struct hang_start_wish {
    uint64_t threshold_ns;
    const char *name;  /* of the process; "": every process */
    uint32_t left_out; /* this process is ignored; 0: none */
};

/* As hang_watch_look(); appends to `ret`. */
bool hang_starts_look(struct hang_starts *starts, const struct hang_start_wish *wish,
                      const struct hang_system *system, const struct backend_poller *pollers,
                      size_t count, uint64_t now_ns, hang_reports *ret);
/* A hang of this process's main thread has been reported: its start is not reported as well. */
void hang_starts_skip(struct hang_starts *starts, uint32_t pid);
void hang_starts_deinit(struct hang_starts *starts);

#endif
