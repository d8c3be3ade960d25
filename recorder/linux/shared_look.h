/* One look at the memory that processes share: those that have mapped something are read again, of
 * the others it is known already. Bounded in time and memory, whatever the processes do: each
 * process counts with its first 1024 shared mappings, and a look with 64 processes (the first one
 * with all). */
#ifndef ARGUS_RECORDER_LINUX_SHARED_LOOK_H
#define ARGUS_RECORDER_LINUX_SHARED_LOOK_H

#include "base/idmap.h"
#include "linux/shared_mappings.h"

typedef VEC(uint64_t) tid_list;

struct shared_entry {
    struct argus_record record; /* its time: when it was last known that the process lives */
    uint64_t started;           /* the process's start, as in struct proc_stat */
    bool is_written;
};

/* Zero: nothing was looked at. */
struct shared_look {
    VEC(struct shared_entry) known; /* those of one process one after the other */
    tid_list due;                   /* threads that have mapped something */
    bool of_all;                    /* the next look is at all processes, not only at those */
    /* results of the last look */
    record_list found;    /* that are shared, and were in no look before; in order of time */
    struct idmap writers; /* the processes that have mapped a file to write there */
    uint64_t missed;      /* processes and mappings that were left out, in all looks */
};

/* False without memory. May wait for as long as a process holds the lock of its memory. */
bool shared_look_do(struct shared_look *look);
void shared_look_deinit(struct shared_look *look);

#endif
