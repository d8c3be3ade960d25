/* The messages that a thread sent before it waited, from the records: sent.c. */
#ifndef ARGUS_DIAGNOSE_SENT_H
#define ARGUS_DIAGNOSE_SENT_H

#include "diagnose/diagnoser.h"

#define MAX_SENT 32

struct sent {
    uint64_t time_ns, channel;
    uint64_t other; /* arg4 of the record: the inode of the own end, if it is a socket */
    uint32_t kind;
};

struct sent_list {
    struct sent items[MAX_SENT]; /* the latest ones, in no order */
    size_t count;
};

/* Reads from the records what `vertex` sent: the last message on each channel. */
struct argus_error *sent_list_read(const struct view *view, uint32_t vertex, struct sent_list *ret);

#endif
