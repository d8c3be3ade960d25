/* Which of the watched variables a loop waits for, if it reads several: `while (!loaded ||
 * !connected)`. */
#ifndef ARGUS_DIAGNOSE_WATCHED_FLAG_H
#define ARGUS_DIAGNOSE_WATCHED_FLAG_H

#include "diagnose/diagnoser.h"

struct watched_flag {
    bool is_read;     /* reads of a watched variable by the loop are recorded */
    uint32_t low;     /* the low bits of its address, as operations have them */
    uint32_t read_at; /* a vertex of the loop that reads it; ARGUS_NONE: several variables may be
                         the one */
};

/* Costs a walk through the earlier vertices of the loop's thread if the loop reads several. */
void watched_flag_find(const struct view *view, uint32_t vertex, struct window part,
                       struct watched_flag *ret);

/* Whether an edge into the loop's thread is of that variable. Of edges that LLDB's records made it
 * is not always known, so they count. */
bool watched_flag_has(const struct watched_flag *flag, const struct view *view,
                      const struct argus_edge *edge);

/* Whether the thread of `vertex` wrote the variable at this address of its memory there. */
bool vertex_writes_flag(const struct view *view, uint32_t vertex, uint64_t address);

/* Whether the loop of `vertex` polled on for most of `part` after this moment. */
bool loop_went_on(const struct view *view, uint32_t vertex, struct window part, uint64_t time_ns);

#endif
