/* A request that a server handed on to another process, which did not take it: handed_on.c. */
#ifndef ARGUS_DIAGNOSE_HANDED_ON_H
#define ARGUS_DIAGNOSE_HANDED_ON_H

#include "diagnose/diagnoser.h"

struct handed_on {
    uint64_t asked_ns; /* when the thread sent its request */
    uint64_t sent_ns;  /* when the server handed it on */
    uint32_t thread;   /* the thread that has not taken it; of a process, its main thread */
};

/* Finds the first request that `thread` sent in the window `asked`, itself or by another thread of
 * its process, and that its receiver handed on to a third process, which did not take it before
 * `until_ns`. False: there is none, or it cannot be read. */
bool handed_on_find(const struct view *view, uint32_t thread, struct window asked,
                    uint64_t until_ns, struct handed_on *ret);

#endif
