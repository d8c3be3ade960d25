/* Main threads that have not been at home for long, though they return to polls that take input:
 * they may wait in a nested loop for something else, while keys are taken and nothing is done with
 * them. Home is where a thread is mostly found when it waits: its system call and its stack
 * pointer. Only programs are watched that have windows, or are in the foreground of a terminal.
 *
 * A dialog and a prompt are not at home either. So one of these has to be so as well, all the time:
 * - the thread polls, always in one place, a descriptor that it has never polled at home (a new
 *   connection);
 * - a command lives that it has started since it left home (commands.h).
 * The analysis has to tell whether it is a hang: these hangs are doubtful. */
#ifndef ARGUS_RECORDER_HANG_PLACES_H
#define ARGUS_RECORDER_HANG_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "server/hang_starts.h"
#include "server/hang_watch.h"

#define HANG_PLACES     8
#define HANG_PLACES_FDS 1024 /* larger descriptors are ignored */

struct hang_place {
    struct proc_place at;
    uint32_t looks; /* that found the thread there */
    bool is_home;
};

/* A main thread. */
struct hang_dweller {
    uint32_t pid;
    uint32_t asked; /* how often it was found out whether it is watched */
    bool is_watched, seen;
    bool is_young; /* began after the first look: its first waits may be those of its start */
    struct hang_place places[HANG_PLACES];
    uint32_t place_count;
    uint64_t home_fds[HANG_PLACES_FDS / 64]; /* what it polls at home */
    uint64_t known_ns;    /* commands of before are nothing new; 0: no home is known */
    uint64_t since_ns;    /* since when it waits for something else; 0: it does not … */
    struct proc_place at; /* … where it was found then … */
    uint64_t at_ns;       /* … and the last look that found it there */
    bool done;            /* nothing is to be reported until it waits elsewhere */
};

struct hang_places {
    uint64_t began_ns; /* the first look */
    VEC(struct hang_dweller) list;
};

/* As hang_starts_look(). */
bool hang_places_look(struct hang_places *places, const struct hang_start_wish *wish,
                      const struct hang_system *system, const struct backend_poller *pollers,
                      size_t count, uint64_t now_ns, hang_reports *ret);
/* This process's main thread hangs without a doubt. */
void hang_places_skip(struct hang_places *places, uint32_t pid);
void hang_places_deinit(struct hang_places *places);

#endif
