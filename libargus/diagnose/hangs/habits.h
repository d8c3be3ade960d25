/* What a thread's waits usually are, so that idleness is not taken for a hang, nor the other way round.
 *
 * Waits of one thread with the same system call at the same place (user stack; where that is short, the object too) are one *habit*. A habit is
 * a *home* when the thread comes back to it again and again for whatever may come: an event loop's poll, a server's
 * read. It is no home when the thread mostly waits there for an answer: it had made somebody run, and that one ended
 * the wait. (A server, which waits for the next question of the client it has just answered, differs in that
 * this client had also begun the vertex.) Nor is it a home when it lies inside a handler of one (nesting.h).
 */
#ifndef ARGUS_DIAGNOSE_HABITS_H
#define ARGUS_DIAGNOSE_HABITS_H

#include "base/idmap.h"
#include "base/vec.h"
#include "slice/timeline.h"

/* Different sources that the waits of one habit take from; more are not told apart. */
#define HABIT_SOURCES 16

/* A thread that waits for so long rests. */
#define RESTING_NS 20000000ull

struct habit {
    uint64_t longest_ns, median_ns;
    uint32_t count;                  /* waits; a yield run counts as many as it merged */
    uint32_t resumed;                /* of them, the same wait again after a signal */
    uint32_t ended;                  /* of them, by another thread */
    uint32_t replies;                /* of these, by one that the thread had just made run */
    uint64_t first_ns, last_ns;      /* when the first of them began, and the last */
    uint64_t sources[HABIT_SOURCES]; /* what they take from, answers left out (nesting.c) */
    uint32_t user_stack;             /* of one of them; ARGUS_NONE: not known */
    uint16_t sets;                   /* bit i: source i is a set of descriptors or a condition */
    uint8_t source_count;
    uint8_t kind; /* enum argus_wait_kind */
    bool home;
    bool answers; /* mostly replies */
    bool nested;  /* inside a handler of a home, and takes nothing that this home would take */
    bool serves;  /* inside a handler of a home, and takes what this home would take */
    bool ignores_pending; /* the thread waits there although something is pending for it (kept.c) */
    bool loop;            /* a home that does not poll, but whose handlers do: an event loop too */
};

struct habits {
    const struct argus_graph *graph; /* borrowed */
    VEC(struct habit) items;
    struct idmap by_key;
    struct idmap by_call; /* polls by their arguments, where the stacks of some tell the place */
};

/* The habits of a thread's waits; false without memory. End with habits_deinit(). */
bool habits_find(const struct view *view, uint32_t thread, struct habits *ret);
void habits_deinit(struct habits *habits);

/* The habit of the wait of `vertex`, which is of that thread; NULL if it has no wait. */
const struct habit *habits_of(const struct habits *habits, const struct argus_vertex *vertex);

/* Whether the wait of `vertex` goes on with one that a signal interrupted: the thread has not come back to it. */
bool habits_resumes(const struct habits *habits, const struct view *view, uint32_t vertex);

/* Whether `vertex` is of a signal's handler, before a wait goes on that the signal interrupted, and that is no home. Such a handler may
 * turn the toolkit's loop, and yet the thread is not back in it. */
bool habits_in_signal(const struct habits *habits, const struct view *view, uint32_t vertex);

/* How many frames the stack of its waits has. */
uint32_t habit_depth(const struct habits *habits, const struct habit *habit);

/* Whether a stack tells where in the program it is. */
bool habit_is_clear(const struct argus_graph *graph, uint32_t user_stack);

/* Whether the wait of `vertex` was ended by a thread that it had made run, and that had not begun it: an answer, also where
 * a loop waits for answers and for input at the same place. */
bool is_answered_wait(const struct view *view, uint32_t vertex);

/* Whether the wait of `vertex` is for whoever may connect. */
bool is_for_clients(const struct view *view, uint32_t vertex);

/* Whether the wait of `vertex` is a home of its thread. False also without memory. */
bool is_home_wait(const struct view *view, uint32_t vertex);

#endif
