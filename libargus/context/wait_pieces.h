/* Waits of a thread that timed out, one after the other, for a lock or in a poll and at the same
 * place: pieces of one wait, if another thread ends the last of them. Between them, the thread only
 * looks whether it may go on: it hardly computes, and sends nothing. If it does send something, it
 * has given up, and asks again or asks another. */
#ifndef ARGUS_CONTEXT_WAIT_PIECES_H
#define ARGUS_CONTEXT_WAIT_PIECES_H

#include "argus/contexts.h"

/* The nodes that the inference gives the time of a period to, and the thread whose time it is. */
struct waits_place {
    uint32_t thread;
    uint64_t from_ns; /* when the period began */
    uint32_t node[ARGUS_ESTIMATES];
};

/* Zeros at first. */
struct wait_pieces {
    uint32_t node[ARGUS_ESTIMATES]; /* where */
    uint32_t count;                 /* 0: none */
    uint32_t vertex;                /* the last one ended it, or is in its run */
    uint64_t ns;                    /* their sum */
    double squares;                 /* of the single ones, in ns * ns */
};

/* Whether a wait at `place`, which ends `vertex`, continues them. */
bool wait_pieces_go_on(const struct wait_pieces *pieces, const struct argus_graph *graph,
                       const struct waits_place *place, uint32_t vertex);

/* Remembers a wait of `ns` at `place`, which ends `vertex` or is in its run. What it does not
 * continue is forgotten. */
void wait_pieces_add(struct wait_pieces *pieces, const struct argus_graph *graph,
                     const struct waits_place *place, uint32_t vertex, uint64_t ns);

#endif
