/* What a poll, select or epoll call waits for: the descriptors that it asks to become readable. */
#ifndef ARGUS_RECORDER_POLL_SET_H
#define ARGUS_RECORDER_POLL_SET_H

#include <stdbool.h>
#include <stdint.h>

/* Descriptors kept of one call; later ones are ignored. */
#define POLL_SET_MOST 15

enum poll_set_kind {
    POLL_SET_UNKNOWN,
    /* poll: each word has the descriptor in bits 0..31, the requested events in bits 32..47. */
    POLL_SET_ARRAY,
    POLL_SET_BITS,  /* select: the first `count` words of the set for reading */
    POLL_SET_EPOLL, /* `object` is the descriptor of the set */
};

struct poll_set {
    uint64_t object; /* the call's first argument */
    uint64_t words[POLL_SET_MOST];
    uint32_t count; /* words */
    uint32_t kind;  /* enum poll_set_kind */
};

/* Whether the descriptors of the set are known. */
static inline bool poll_set_is_listed(const struct poll_set *set)
{
    return set->kind == POLL_SET_ARRAY || set->kind == POLL_SET_BITS;
}

/* Whether a wait for `inner` also ends for every input that `outer` waits for. False if `outer` is
 * unknown. */
bool poll_set_covers(const struct poll_set *inner, const struct poll_set *outer);

/* The descriptors of `set`, an array or bitmap, that `other` does not wait for; none if `other` is
 * not listed. */
struct poll_set poll_set_without(const struct poll_set *set, const struct poll_set *other);

/* Calls `use` with each descriptor of an array or bitmap that is waited for as input, until it
 * returns false. */
void poll_set_each(const struct poll_set *set, bool (*use)(void *context, int fd), void *context);

/* Whether process `pid` has readable input in the set now. Reads nothing. A line typed ahead does
 * not count, since it is for the next reader of that terminal. False if unknown. */
bool poll_set_is_ready(const struct poll_set *set, uint32_t pid);

/* Whether a descriptor of an array or bitmap is a terminal that the process has set to a mode other
 * than lines, so that the poll takes the user's keys. False if unknown. */
bool poll_set_has_terminal(const struct poll_set *set, uint32_t pid);

/* Whether keys that were typed for the process are still unread: its standard input is a terminal
 * that it has set to a mode other than lines. False if unknown. */
bool process_has_typed(uint32_t pid);

/* Whether data that the process sent to a socket of the set is still unread. False if unknown. */
bool poll_set_is_untaken(const struct poll_set *set, uint32_t pid);

#endif
