/* The search for the threads that should have ended a wait: suspects.c has the essay. */
#ifndef ARGUS_DIAGNOSE_SUSPECT_SEARCH_H
#define ARGUS_DIAGNOSE_SUSPECT_SEARCH_H

#include "diagnose/diagnoser.h"

/* The user is asked about at most so many normal cases of one wait. */
#define MAX_BASELINES 5

#define NEAR_VERTICES 4 /* a vertex and three before it: one request */

struct suspect_search {
    struct diagnoser *d;
    uint32_t vertex; /* the vertex whose wait it is */
    suspect_list *list;
    uint32_t used[MAX_BASELINES]; /* wakers whose normal case has been looked at */
    size_t used_count;
    bool used_other; /* the baseline of the other trace has been looked at */
    bool polls;      /* `vertex` polls a variable instead of waiting */
    bool again;      /* set by evidence that has more suspects: it is called once more */
};

/* Appends a suspect, unless it is in the list already, cannot be one, or is the waiter; false
 * without memory. */
bool suspect_search_add(struct suspect_search *search, uint32_t thread, enum argus_reason_kind why);

/* Whether thread `other` and the thread of `waiter` made each other run at least `times` times
 * before, not long ago. */
bool have_interacted(const struct view *view, uint32_t waiter, uint32_t other, unsigned times);

/* The thread that ended the wait of `vertex`; ARGUS_NONE. */
uint32_t waker_thread(const struct view *view, uint32_t vertex);

/* The processes that had the pipe or socket `inode` open at the end; 0 for inode 0.
 * silent_opener.c. */
size_t open_ends_of(const struct view *view, uint64_t inode, const struct argus_open_end **ret);
/* Whether the thread is of another process than the waiter. */
bool is_other_process(const struct suspect_search *search, uint32_t thread);
/* The main thread of a process that has the other end open of what `vertex` waits for, and did
 * nothing in the recording; ARGUS_NONE. */
uint32_t find_silent_opener(const struct view *view, uint32_t vertex);

/* A thread of the only process that was stopped until the end of `window`, and for most of it;
 * ARGUS_NONE. stopped.c. */
uint32_t find_stopped(const struct view *view, struct window window);

/* Adds the threads that should have received what `vertex` sent, and did not. asked.c. */
struct argus_error *find_unreceived(struct suspect_search *search, uint32_t vertex);

/* The vertex in which the searched wait began: an earlier one if signals interrupted it, or if it is
 * a wait in pieces (timeline_pieces()); of the hung thread, also if only its place is the same.
 * suspects.c. */
uint32_t first_piece(const struct suspect_search *search);

/* The thread that occupies `server`, so that a message of thread `client` stays unread during
 * `wait`; ARGUS_NONE: there is none, or it is not known. exclusive_client.c. */
uint32_t find_exclusive_client(const struct view *view, uint32_t client, uint32_t server,
                               struct window wait);

/* Notes in `examined` that the suspect did something unusual if it should have ended the searched
 * wait, whatever it did in the window. must_end.c. */
void suspect_note_duty(const struct suspect_search *search, const struct suspect *suspect,
                       struct window window, struct examined *examined);

/* --- evidence that has a file of its own --- */
struct argus_error *find_asked(struct suspect_search *search);      /* asked.c */
struct argus_error *find_unanswered(struct suspect_search *search); /* no_answer.c */
struct argus_error *find_baseline(struct suspect_search *search);   /* baselines.c */
struct argus_error *find_openers(struct suspect_search *search);    /* silent_opener.c */
struct argus_error *find_sharers(struct suspect_search *search);    /* sharers.c */

#endif
