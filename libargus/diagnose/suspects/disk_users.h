/* Whose requests a disk was busy with: disk_users.c. */
#ifndef ARGUS_DIAGNOSE_DISK_USERS_H
#define ARGUS_DIAGNOSE_DISK_USERS_H

#include "diagnose/diagnoser.h"

/* Blames the program for which the disk did most while `vertex` waited for it, if that was another
 * program. Adds what the disk did for others to `why`, whose `users` the caller must free. */
struct argus_error *disk_users_blame(struct diagnoser *d, uint32_t vertex, struct window part,
                                     uint64_t wait_ns, struct argus_reason *why);

/* Whether, while `vertex` waited, the disk of its file was mostly busy for another program. Then
 * the threads that ended the wait only passed on that the disk was done. */
struct argus_error *disk_is_taken(struct diagnoser *d, uint32_t vertex, struct window part,
                                  bool *ret);

#endif
