/* What a poll, select or epoll call waits for: the descriptors that it asks to become readable. */
#ifndef ARGUS_RECORDER_POLL_SET_H
#define ARGUS_RECORDER_POLL_SET_H

#include <stdbool.h>
#include <stdint.h>

/* Descriptors kept of one call; those behind them are not looked at. */
#define POLL_SET_MOST 15

enum poll_set_kind {
    POLL_SET_UNKNOWN,
    POLL_SET_ARRAY, /* poll: each word has the descriptor in bits 0..31, what is asked in bits 32..47 */
    POLL_SET_BITS,  /* select: the first `count` words of the set for reading */
    POLL_SET_EPOLL, /* `object` is the descriptor of the set */
};

struct poll_set {
    uint64_t object; /* the call's first argument */
    uint64_t words[POLL_SET_MOST];
    uint32_t count; /* words */
    uint32_t kind;  /* enum poll_set_kind */
};

/* Whether whoever waits for `inner` also wakes for all that `outer` asks for, which is known. */
bool poll_set_covers(const struct poll_set *inner, const struct poll_set *outer);

/* Calls `use` with each descriptor of an array or of bits that is asked to become readable, until it returns false. */
void poll_set_each(const struct poll_set *set, bool (*use)(void *context, int fd), void *context);

/* Whether something of the set of process `pid` can be read now. It is looked at, nothing is taken. A line typed ahead does not count: it
 * is for whoever reads from that terminal next. False where this cannot be found out. */
bool poll_set_is_ready(const struct poll_set *set, uint32_t pid);

/* Whether what the process sent to a socket of the set lies there and is not taken. False where this cannot be found out. */
bool poll_set_is_untaken(const struct poll_set *set, uint32_t pid);

#endif
