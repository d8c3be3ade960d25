/* The descriptors of a wait for several of them. */
#ifndef ARGUS_LIVE_SET_H
#define ARGUS_LIVE_SET_H

#include "live/live_wait.h"

enum { LIVE_POLLED = 1024 };

struct live_polled {
    uint32_t fd;
    bool is_write; /* it is waited for only to write to it */
    bool is_read;  /* … to read from it, perhaps among others */
    bool is_once;  /* for the next event only: afterwards, for none until a thread asks again
                      (EPOLLONESHOT) */
    bool is_full;  /* it is waited for to write to it, perhaps among others: there is no room, since
                     the call would have returned */
};

/* What the thread's poll, select or epoll waits for: at most LIVE_POLLED descriptors. 0: it is in
 * no such call, or its set is empty or not readable. */
uint32_t live_set_of(struct argus_live *live, uint32_t thread, struct live_polled *ret);
/* Adds a descriptor to the `count` that are there; the new count. */
uint32_t live_polled_add(struct live_polled *ret, uint32_t count, uint32_t fd, bool reads,
                         bool writes);
/* The descriptors of an epoll set (live_epoll.c). */
uint32_t live_set_of_epoll(struct argus_live *live, uint32_t thread, struct live_polled *ret);
/* Whether the poll or select has no descriptors: programs sleep so. False: it has some, which may
 * not have been readable. */
bool live_set_is_empty(struct argus_live *live, uint32_t thread);

/* What the wait of a poll or select is for: a poll of one descriptor is a read or write with a
 * timeout, as libraries wait for an answer. `wait` has its time-out. */
void live_wait_for_set(struct argus_live *live, uint32_t thread, struct argus_live_wait *wait);

/* If nothing but processes that this one has started can cause any of these events (a program that
 * waits for the output of its child): adds these. */
void live_polled_children(struct argus_live *live, uint32_t thread,
                          const struct live_polled *polled, uint32_t count,
                          struct live_candidates *ret);

/* If a server reads only from a few of its clients, and others have sent requests: adds the few. */
void live_only_clients(struct argus_live *live, uint32_t thread, const struct live_polled *polled,
                       uint32_t count, struct live_candidates *ret);

#endif
