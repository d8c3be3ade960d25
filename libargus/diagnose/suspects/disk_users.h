/* Whose requests a disk was busy with: disk_users.c. */
#ifndef ARGUS_DIAGNOSE_DISK_USERS_H
#define ARGUS_DIAGNOSE_DISK_USERS_H

#include "diagnose/diagnoser.h"

/* Blames the program for which the disk did most while `vertex` waited for it, if that was another
 * program. `*ret_text`: what the disk did, as the end of a sentence about it; owned by the caller;
 * NULL: nothing of others, or no memory. */
struct argus_error *disk_users_blame(struct diagnoser *d, uint32_t vertex, struct window part,
                                     uint64_t wait_ns, char **ret_text);

#endif
