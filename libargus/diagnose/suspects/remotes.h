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

/* Errors: memory. */
struct argus_error *awaited_remote_find(const struct view *view, uint32_t vertex,
                                        struct awaited_remote *ret);

/* Whether the wait is for another machine, so that there is no reason to guess at threads.
 * `may_guess` as below. */
struct argus_error *remote_is_awaited(const struct view *view, uint32_t vertex, bool may_guess,
                                      bool *ret);

/* Blames the wait of `vertex` if it was for another machine; `*ret_done`: it was. `may_guess`: also
 * if that is a guess. */
struct argus_error *diagnoser_blame_remote(struct diagnoser *d, uint32_t vertex, struct window part,
                                           uint64_t wait_ns, bool may_guess, bool *ret_done);

#endif
