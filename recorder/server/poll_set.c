#include "server/poll_set.h"

#include <poll.h>

static bool use_array(const struct poll_set *set, bool (*use)(void *context, int fd), void *context)
{
    for (uint32_t i = 0; i < set->count && i < POLL_SET_MOST; i++) {
        int fd = (int)(uint32_t)set->words[i];
        if (fd >= 0 && set->words[i] >> 32 & POLLIN && !use(context, fd))
            return false;
    }
    return true;
}

static void use_bits(const struct poll_set *set, bool (*use)(void *context, int fd), void *context)
{
    for (uint32_t i = 0; i < set->count && i < POLL_SET_MOST; i++)
        for (uint32_t bit = 0; bit < 64; bit++)
            if (set->words[i] >> bit & 1 && !use(context, (int)(i * 64 + bit)))
                return;
}

void poll_set_each(const struct poll_set *set, bool (*use)(void *context, int fd), void *context)
{
    if (set->kind == POLL_SET_ARRAY)
        use_array(set, use, context);
    else if (set->kind == POLL_SET_BITS)
        use_bits(set, use, context);
}

struct wanted {
    const struct poll_set *set;
    int fd;
    bool found;
};

static bool is_other(void *context, int fd)
{
    struct wanted *wanted = context;
    wanted->found |= fd == wanted->fd;
    return !wanted->found;
}

/* Stops at the first descriptor that is not in the set. */
static bool is_in(void *context, int fd)
{
    struct wanted *wanted = context;
    wanted->fd = fd;
    wanted->found = false;
    poll_set_each(wanted->set, is_other, wanted);
    return wanted->found;
}

bool poll_set_covers(const struct poll_set *inner, const struct poll_set *outer)
{
    struct wanted wanted = {.set = inner};
    if (outer->kind == POLL_SET_UNKNOWN || inner->kind == POLL_SET_UNKNOWN)
        return false;
    if (outer->kind == POLL_SET_EPOLL)
        return inner->kind == POLL_SET_EPOLL ? inner->object == outer->object
                                             : is_in(&wanted, (int)(uint32_t)outer->object);
    poll_set_each(outer, is_in, &wanted);
    return wanted.found;
}

struct difference {
    const struct poll_set *other;
    struct poll_set *ret;
};

static bool add_if_missing(void *context, int fd)
{
    const struct difference *difference = context;
    struct wanted wanted = {.set = difference->other};
    struct poll_set *ret = difference->ret;
    if (!is_in(&wanted, fd))
        ret->words[ret->count++] = (uint32_t)fd | (uint64_t)POLLIN << 32;
    return ret->count < POLL_SET_MOST;
}

struct poll_set poll_set_without(const struct poll_set *set, const struct poll_set *other)
{
    struct poll_set made = {.object = set->object, .kind = POLL_SET_ARRAY};
    struct difference difference = {other, &made};
    if (poll_set_is_listed(other))
        poll_set_each(set, add_if_missing, &difference);
    return made;
}
