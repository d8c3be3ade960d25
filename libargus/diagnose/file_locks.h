/* Who holds a lock on a file, and who looks for one again and again. */
#ifndef ARGUS_DIAGNOSE_FILE_LOCKS_H
#define ARGUS_DIAGNOSE_FILE_LOCKS_H

#include "slice/timeline.h"

/* Calls for one lock that were refused, again and again. */
struct lock_tries {
    uint64_t inode;
    uint32_t device; /* major << 20 | minor */
    uint64_t count;
    uint64_t first_ns, last_ns;
    uint32_t holder; /* the thread that had it at most of them; ARGUS_NONE: not known */
};

/* Whether `thread` looked for a lock for most of [start_ns, end_ns); `holder` is left alone. */
bool lock_tries_detect(const struct view *view, uint32_t thread, uint64_t start_ns, uint64_t end_ns,
                       struct lock_tries *ret);
/* The same, and who held it. */
bool lock_tries_find(const struct view *view, uint32_t thread, uint64_t start_ns, uint64_t end_ns,
                     struct lock_tries *ret);

/* The next stretch, from `from_ns` on, in which `thread` looked for one lock again and again: from the first try until it got it, or the last
 * try. False: there is none. `holder` is left alone. */
bool lock_tries_find_run(const struct view *view, uint32_t thread, uint64_t from_ns,
                         struct lock_tries *ret);

/* The path of the file, where the trace has one (of mapped code); else "inode 7 of device 8:1". Returns `buffer`. */
const char *text_lock_file(const struct view *view, const struct lock_tries *tries, char *buffer,
                           size_t bytes);

/* The thread that held the lock for which `vertex` waits in flock() or fcntl(), when that wait began; ARGUS_NONE: it waits for none, or
 * the trace does not tell. */
uint32_t file_lock_find_holder(const struct view *view, uint32_t vertex);

#endif
