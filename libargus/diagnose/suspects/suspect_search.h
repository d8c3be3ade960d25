/* The search for those who should have ended a wait: suspects.c has the essay. */
#ifndef ARGUS_DIAGNOSE_SUSPECT_SEARCH_H
#define ARGUS_DIAGNOSE_SUSPECT_SEARCH_H

#include "diagnose/diagnoser.h"

/* More normal cases of one wait than this are not asked about. */
#define MAX_BASELINES 5

#define NEAR_VERTICES 4 /* a vertex and three before it: one request */

struct suspect_search {
    struct diagnoser *d;
    uint32_t vertex; /* whose wait it is */
    suspect_list *list;
    uint32_t used[MAX_BASELINES]; /* wakers whose normal case has been looked at */
    size_t used_count;
    bool used_other; /* the baseline of the other trace has been looked at */
    bool again;      /* set by evidence that has more to give: it is called once more */
};

/* Appends a suspect, unless it is one already, cannot be one, or is the waiter; false without memory. `why` is static. */
bool suspect_search_add(struct suspect_search *search, uint32_t thread, const char *why);

/* Whether thread `other` and that of `waiter` made each other run at least so many times before, not long ago. */
bool have_interacted(const struct view *view, uint32_t waiter, uint32_t other, unsigned times);

/* The thread that ended the wait of `vertex`; ARGUS_NONE. */
uint32_t waker_thread(const struct view *view, uint32_t vertex);

/* The thread that has `server` for itself, so that a message of thread `client` lies there unread during `wait`; ARGUS_NONE: that
 * is not the case, or not known. exclusive_client.c. */
uint32_t find_exclusive_client(const struct view *view, uint32_t client, uint32_t server,
                               struct window wait);

/* --- evidence that has a file of its own --- */
struct argus_error *find_asked(struct suspect_search *search);    /* asked.c */
struct argus_error *find_baseline(struct suspect_search *search); /* baselines.c */

#endif
