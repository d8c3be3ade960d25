/* What a thread's waits usually are, so that idleness is not taken for a hang, nor a hang for
 * idleness.
 *
 * Waits of one thread with the same system call at the same place (the user stack; if that is
 * short, also the object) are one *habit*. A habit is a *home* when the thread comes back to it
 * again and again for whatever may come: an event loop's poll, a server's read. It is not a home in
 * these cases:
 *   - The thread mostly waits there for an answer: it had made another thread run, and that thread
 *     ended the wait. (A server waits for the next request of the client that it has just answered.
 *     It differs in that this client had also begun the vertex.)
 *   - All waits there were for the next words of another thread in a conversation that this thread
 *     had begun (it logs in, while it starts), and it has another home since.
 *   - It is inside a handler of a home (nesting.h).
 */
#ifndef ARGUS_DIAGNOSE_HABITS_H
#define ARGUS_DIAGNOSE_HABITS_H

#include "base/idmap.h"
#include "base/vec.h"
#include "slice/timeline.h"

/* The number of different sources of one habit's waits that are told apart. */
#define HABIT_SOURCES 16

/* A thread that waits for so long is resting. */
#define RESTING_NS 20000000ull
/* A reply of a busy server hardly takes as long. */
#define SURELY_RESTING_NS 100000000ull
/* On a busy machine, a message is normally pending for up to this time. What is pending for longer
 * is left by a thread that perhaps looks now and then, but not for this. */
#define LONG_PENDING_NS 250000000ull

struct habit {
    uint64_t longest_ns, median_ns;
    uint32_t count;      /* waits; a yield run counts as many as it merged */
    uint32_t resumed;    /* of them: the same wait again after a signal */
    uint32_t ended;      /* of them: ended by another thread */
    uint32_t replies;    /* of these: ended by a thread that this one had just made run */
    uint32_t children;   /* of `ended`: by processes that its own process had started */
    uint32_t responses;  /* of the others: after which it sent something before it waited again */
    uint32_t keys;       /* of `ended`: by input of a terminal */
    uint32_t child_asks; /* time-outs of polls after which it asked for the end of a child */
    uint32_t chats;      /* waits that belong to a conversation which this thread had begun … */
    uint32_t partner;    /* … the last time with this thread */
    uint64_t first_ns, last_ns;               /* when the first and the last of them began */
    uint64_t sources[HABIT_SOURCES];          /* what they take from, without answers (nesting.c) */
    uint32_t source_counts[HABIT_SOURCES];    /* how many of the waits take from each of them */
    uint32_t source_responses[HABIT_SOURCES]; /* after how many of these it sent something */
    uint64_t answer_sources[HABIT_SOURCES];   /* what brings answers */
    uint32_t answer_counts[HABIT_SOURCES];
    uint32_t user_stack; /* of one of the waits; ARGUS_NONE: not known */
    uint16_t syscall;    /* of the waits */
    uint16_t sets;       /* bit i: source i is a set of descriptors or a condition */
    uint8_t source_count;
    uint8_t brought; /* ended by a thread that had received input; only some are counted */
    uint8_t kind;    /* enum argus_wait_kind */
    bool home;
    bool answers; /* mostly replies */
    bool nested;  /* inside a handler of a home, and takes nothing that this home takes */
    /* `nested`, because the thread looks there again and again (searching.c), and hardly ever looks
     * elsewhere meanwhile by a call that may be the home's */
    bool searches;
    bool awaits; /* `nested`, until a reply or a command's end comes (unanswered.c) */
    bool serves; /* inside a handler of a home, and takes what this home takes */
    /* the thread waits there although something is pending for it (ignored_pending.c) */
    bool ignores_pending;
    bool loop; /* a home that does not poll but whose handlers do: also an event loop */
};

struct habits {
    const struct argus_graph *graph; /* borrowed */
    VEC(struct habit) items;
    struct idmap by_key;
    /* polls by their arguments, for polls whose own stacks do not tell the place */
    struct idmap by_call;
    /* while habits are found: with which thread the last wait and the one before it belonged to a
     * conversation (locks do not count); ARGUS_NONE */
    uint32_t chats_with, chats_with_before;
};

/* The habits of a thread's waits; false without memory. End with habits_deinit(). */
bool habits_find(const struct view *view, uint32_t thread, struct habits *ret);
void habits_deinit(struct habits *habits);

/* The habit of the wait of `vertex`, a vertex of that thread; NULL if it has no wait. */
const struct habit *habits_of(const struct habits *habits, const struct argus_vertex *vertex);

/* Whether the wait of `vertex` continues one that a signal interrupted: the thread has not come
 * back to its loop. */
bool habits_resumes(const struct habits *habits, const struct view *view, uint32_t vertex);

/* Whether `vertex` belongs to a signal handler that interrupted a wait which is not a home and
 * which continues afterwards. Such a handler may turn the toolkit's loop without the thread being
 * back in it. */
bool habits_in_signal(const struct habits *habits, const struct view *view, uint32_t vertex);

/* The number of frames in the stack of the habit's waits. */
uint32_t habit_depth(const struct habits *habits, const struct habit *habit);

/* Whether the wait of `vertex`, which never ended, is for the next words of a conversation: all
 * waits at its place that ended were, and the thread has spoken since. */
bool is_in_conversation(const struct habits *habits, const struct view *view, uint32_t vertex);

/* Whether the first argument of a system call for polling identifies the descriptors. */
bool call_names_set(const struct argus_graph *graph, uint16_t syscall);

/* Whether a stack tells at which place of the program it was taken. */
bool habit_is_clear(const struct argus_graph *graph, uint32_t user_stack);

/* Whether the wait of `vertex` is for clients to connect. */
bool is_for_clients(const struct view *view, uint32_t vertex);

/* Whether the thread asked in `vertex` for the end of a child (wait4, waitid). searching.c. */
bool asks_for_children(const struct view *view, uint32_t vertex);
/* Whether it mostly does so after the waits of the habit. */
bool habit_asks_for_children(const struct habit *habit);

/* Whether the wait of `vertex` is a home of its thread. False also without memory. */
bool is_home_wait(const struct view *view, uint32_t vertex);

#endif
