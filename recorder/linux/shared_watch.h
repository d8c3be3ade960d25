/* The memory that processes share while a stream is recorded. A process may end before the recording does, and then the list that is
 * read at the end (shared_mappings.h) lacks it; so a process is looked at when it has mapped something, or was made by one that had.
 *
 * A thread of its own does each look (shared_look.h): reading /proc/PID/maps waits while the process holds the lock of its memory, which
 * can be for good (a page from a dead file server), and the reader of a stream must not wait. A look that does not end stops only the looks:
 * what is due then is counted as missed. */
#ifndef ARGUS_RECORDER_LINUX_SHARED_WATCH_H
#define ARGUS_RECORDER_LINUX_SHARED_WATCH_H

#include "linux/shared_look.h"

/* Zero: nothing was seen. */
struct shared_watch {
    struct shared_job *job;            /* NULL: no look yet; the thread's while is_looking */
    tid_list due;                      /* threads that have mapped something, and new processes */
    struct idmap due_set, looking_set; /* the same, and those of the look that is going on */
    struct idmap writers;              /* processes that have mapped a file to write there */
    uint64_t next_ns;                  /* not before this time */
    uint64_t missed;
    bool is_reading, is_looking;
};

/* Waits for no look. */
void shared_watch_deinit(struct shared_watch *watch);
/* Takes note of the calls of mmap() and shmat() and of new processes among records that were read.
 */
void shared_watch_see(struct shared_watch *watch, const struct argus_record *records, size_t count);
/* Appends a record for each mapping that is shared according to the last look and was not in one
 * before, and begins the next look if one is due; the first time at all processes. Nothing before
 * the first records were read. False without memory. */
bool shared_watch_take(struct shared_watch *watch, uint64_t time_ns, record_list *ret);
/* The number of processes and mappings that were left out because there were too many. */
uint64_t shared_watch_missed(const struct shared_watch *watch);

#endif
