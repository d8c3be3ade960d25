/* Waits of a thread that timed out, one after the other, for a lock and at the same place: pieces
 * of one wait, if another thread ends the last of them. */
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
    uint64_t ns, end_ns;            /* their sum; when the last one ended */
    double squares;                 /* of the single ones, in ns * ns */
};

/* Whether a wait at `place` continues them. */
bool wait_pieces_go_on(const struct wait_pieces *pieces, const struct waits_place *place);

/* Remembers a wait of `ns` at `place`, until `end_ns`. What it does not continue is forgotten. */
void wait_pieces_add(struct wait_pieces *pieces, const struct waits_place *place, uint64_t ns,
                     uint64_t end_ns);

#endif
