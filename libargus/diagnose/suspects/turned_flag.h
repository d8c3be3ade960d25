/* Watched variables that one thread sets and another one takes back (argus watchflag
 * --semantics=flip or queue). Only their writes are recorded, so a loop that looks at one is not
 * seen to. */
#ifndef ARGUS_DIAGNOSE_TURNED_FLAG_H
#define ARGUS_DIAGNOSE_TURNED_FLAG_H

#include "diagnose/diagnoser.h"

/* What the thread of the loop `vertex` handed over before the loop, and another thread took when
 * the loop ended: an edge; ARGUS_NONE: none. */
uint32_t find_late_turn(const struct view *view, uint32_t vertex, struct window part);
/* If it handed over something that no thread took during the loop: the last time that a thread took
 * that variable back, an edge. ARGUS_NONE: none. */
uint32_t find_former_turn(const struct view *view, uint32_t vertex, struct window part);

#endif
