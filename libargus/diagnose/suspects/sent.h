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

/* The inode of the end that should have received, as in object uses (argus-trace(5), MESSAGES); 0:
 * unknown. */
uint64_t sent_receiving_inode(const struct view *view, const struct sent *sent);
/* Whether a thread besides the sender was seen to use the receiving end `inode`. */
bool sent_end_is_read(const struct view *view, uint32_t sender, uint64_t inode);

#endif
