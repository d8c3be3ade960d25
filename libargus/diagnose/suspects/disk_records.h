/* What a disk did while a thread waited for it, from the records of block I/O: disk_records.c. */
#ifndef ARGUS_DIAGNOSE_DISK_RECORDS_H
#define ARGUS_DIAGNOSE_DISK_RECORDS_H

#include "diagnose/diagnoser.h"

/* The requests of one issuer for one file. */
struct disk_user {
    uint64_t tid; /* of the issuer; mostly a kernel thread that writes what programs wrote before */
    uint64_t inode; /* of the file; 0: of none, or not known */
    bool writes;    /* otherwise it reads */
    uint64_t bytes, requests;
};

struct disk_use {
    uint64_t bytes; /* of all requests */
    bool one_disk;  /* only those of the disk that is known to have the file */
    VEC(struct disk_user) users;
};

/* Adds up the requests that were in progress in `window`, while the thread of `vertex` waited for a
 * disk. If it waited for a file that had requests then, only those of its disk count, unless files
 * of several file systems have this inode, and nothing tells which one is meant. `*ret` must be
 * freed also after an error. */
struct argus_error *disk_use_read(const struct diagnoser *d, struct window window, uint32_t vertex,
                                  struct disk_use *ret);

#endif
