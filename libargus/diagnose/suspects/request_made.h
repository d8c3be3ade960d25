/* Whether a thread waits for an answer or for work: request_made.c has the essay. */
#ifndef ARGUS_DIAGNOSE_REQUEST_MADE_H
#define ARGUS_DIAGNOSE_REQUEST_MADE_H

#include "diagnose/suspects/suspect_search.h"

/* Whether the thread of the searched wait asked something of the process of `thread`, or of a
 * receiver that is not known, just before the wait. */
bool request_was_made(const struct suspect_search *search, uint32_t thread);

/* The vertex of `thread` that took the last request of `waiter` before `until_ns`; ARGUS_NONE: none
 * is known. */
uint32_t request_find_taker(const struct view *view, uint32_t waiter, uint32_t thread,
                            uint64_t until_ns);

/* Whether the edge is a store to a watched variable that the thread at the position polls, since it
 * began to. It did not end that loop. */
bool edge_is_store_for(const struct view *view, const struct argus_edge *edge,
                       const struct walk_position *position);
/* Whether the thread of the vertices from `first` to `last` sent anything in them but such stores.
 */
bool has_sent_anything(const struct view *view, uint32_t first, uint32_t last,
                       const struct walk_position *position);

/* Whether the wait at a condition of vertex `second` is that of `first` once more: that of a worker
 * that is ready for its next task. It has passed on what it took, if it sent anything. The wait for
 * a mutex is no such wait: what ends it is an unlock, which is a weak edge. */
bool waits_for_work_again(const struct view *view, uint32_t first, uint32_t second);

/* Whether the wait of `vertex` began before `before_ns` and is for work: it is at a condition or in
 * a poll, and the thread had asked for nothing before, or it had been given work there. */
bool waits_for_work(const struct view *view, uint32_t vertex, uint64_t before_ns);

/* Whether the wait is for a set of descriptors (epoll). */
bool wait_is_epoll(const struct view *view, const struct argus_wait *wait);

#endif
