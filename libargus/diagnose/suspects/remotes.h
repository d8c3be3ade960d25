/* Waits for another machine: remotes.c. */
#ifndef ARGUS_DIAGNOSE_REMOTES_H
#define ARGUS_DIAGNOSE_REMOTES_H

#include "diagnose/diagnoser.h"

/* The other end for which a thread waits. */
struct awaited_remote {
    uint32_t remote; /* index into the graph's remotes; ARGUS_NONE: not known */
    bool answered;   /* something came from it, which ended the wait */
    bool guess;      /* it is the one that the thread had asked last */
};

/* `may_guess`: also if that is a guess. Errors: memory. */
struct argus_error *awaited_remote_find(const struct view *view, uint32_t vertex, bool may_guess,
                                        struct awaited_remote *ret);

/* Blames the wait of `vertex`, which was for `awaited`, a known one. */
struct argus_error *diagnoser_blame_remote(struct diagnoser *d, uint32_t vertex, struct window part,
                                           uint64_t wait_ns, const struct awaited_remote *awaited);

#endif
