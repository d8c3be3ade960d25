/* Whether a thread's waits are for answers: what it had asked, and who ended them. The parts of
 * habits.c that look at single waits. */
#ifndef ARGUS_DIAGNOSE_ANSWERED_WAITS_H
#define ARGUS_DIAGNOSE_ANSWERED_WAITS_H

#include "slice/timeline.h"

/* Out edges that are looked at, from the last: a vertex that wakes more threads is not asking one
 * of them. */
#define MAX_ASKED 16
/* Vertices of a thread that are looked at for what it did since it was asked. */
#define MAX_BEFORE 16

/* `since` asked the thread of `waking`. Whether that thread only passes on what comes from outside:
 * a third thread made `waking` run, one that the thread of `waking` had not asked since then. */
bool passes_on(const struct view *view, uint32_t waking, uint32_t since);

/* Whether the wait of `vertex`, which `edge` ended, was for an answer. */
bool is_answer(const struct view *view, uint32_t vertex, const struct argus_edge *edge);
/* The same, for a thread that may be a server: the client that had begun the vertex sends the next
 * request. */
bool is_reply(const struct view *view, uint32_t vertex, const struct argus_edge *edge);

/* Whether the wait of `vertex` was ended by an answer: by a thread that this one had made run and
 * that had not begun the vertex. Also true where a loop waits for answers and for input at the same
 * place. */
bool is_answered_wait(const struct view *view, uint32_t vertex);

/* A turn of a thread, from its last poll to a wait, as far as thread `other` is concerned. A lock
 * that the thread waited for meanwhile belongs to it. */
struct turn {
    uint32_t asked; /* the last vertex that made `other` run; ARGUS_NONE */
    bool begun;     /* `other` began it, or a callback in it */
};
struct turn turn_until(const struct view *view, uint32_t vertex, uint32_t other);

#endif
