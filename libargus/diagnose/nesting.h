/* Which places of a thread's waits lie inside a handler of its event loop, by whole call stacks (habits.h). */
#ifndef ARGUS_DIAGNOSE_NESTING_H
#define ARGUS_DIAGNOSE_NESTING_H

#include "diagnose/habits.h"

/* Sets `nested` and `loop` of all habits of a thread, which is the main one of its process or not. */
void nesting_find(struct habits *habits, bool is_main);

#endif
