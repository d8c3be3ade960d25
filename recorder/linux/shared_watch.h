/* The memory that processes share while a stream is recorded. A process may end before the recording does, and then the list that is
 * read at the end (shared_mappings.h) lacks it; so a process is looked at when it has mapped something. */
#ifndef ARGUS_RECORDER_LINUX_SHARED_WATCH_H
#define ARGUS_RECORDER_LINUX_SHARED_WATCH_H

#include "linux/shared_mappings.h"

enum { SHARED_WATCH_DUE = 64 };

/* Zero: nothing was seen. */
struct shared_watch {
    record_list known;              /* mappings with MAP_SHARED; with a time: written already */
    uint64_t due[SHARED_WATCH_DUE]; /* threads that have mapped something */
    uint32_t due_count;
    bool is_reading;
    uint64_t looked_ns;
};

void shared_watch_deinit(struct shared_watch *watch);
/* Takes note of the calls of mmap() and shmat() among records that were read. */
void shared_watch_see(struct shared_watch *watch, const struct argus_record *records, size_t count);
/* Appends records at `time_ns` for mappings that are shared since the last call; the first time, all that are. Nothing before the
 * first records were read. False without memory. */
bool shared_watch_take(struct shared_watch *watch, uint64_t time_ns, record_list *ret);

#endif
