/* Finds the holder of a lock on a file, and threads that try to get one again and again. */
#ifndef ARGUS_DIAGNOSE_FILE_LOCKS_H
#define ARGUS_DIAGNOSE_FILE_LOCKS_H

#include "slice/timeline.h"

/* A thread's repeated, refused calls for one lock. */
struct lock_tries {
    uint64_t inode;
    bool is_name;    /* of a lock file; `inode` is the identity of its name */
    uint32_t device; /* major << 20 | minor */
    uint64_t count;  /* refused ones */
    bool got;        /* the thread got it at `last_ns` */
    uint64_t first_ns, last_ns;
    uint32_t holder; /* the thread that held it during most of them; ARGUS_NONE: not known */
    /* Of a lock file: the thread that created it, which may have ended since; ARGUS_NONE: not
     * known. */
    uint32_t creator;
};

/* Whether `thread` tried to get a lock for most of [start_ns, end_ns): three times, or twice with a
 * sleep in between, but never with more than a minute in between. Leaves `holder` alone. For
 * lock files, the tries of child processes count (a loop of a shell script), and the thread or its
 * children must sleep in between: a program that makes sure that a folder exists does not wait. Two
 * tries count only if a process was seen to create or remove the file. */
bool lock_tries_detect(const struct view *view, uint32_t thread, uint64_t start_ns, uint64_t end_ns,
                       struct lock_tries *ret);
/* The same, and finds the holder. */
bool lock_tries_find(const struct view *view, uint32_t thread, uint64_t start_ns, uint64_t end_ns,
                     struct lock_tries *ret);

/* The main thread of the script of which the process of `vertex` is a child, if the script tries to
 * create a lock file again and again in the time, and each try and each pause is a child;
 * ARGUS_NONE. */
uint32_t lock_script_find(const struct view *view, uint32_t vertex, uint64_t start_ns,
                          uint64_t end_ns, struct lock_tries *ret);

/* The next stretch, from `from_ns` on, in which `thread` tried to get one lock again and again:
 * from the first try until the thread got it, or the last try. False: there is none. Leaves
 * `holder` alone. `*steps` bounds the work of all calls that share it: without steps, tries with
 * long pauses are not found. */
bool lock_tries_find_run(const struct view *view, uint32_t thread, uint64_t from_ns,
                         uint64_t *steps, struct lock_tries *ret);

/* The thread that held the lock for which `vertex` waits in flock() or fcntl(), when that wait
 * began; ARGUS_NONE: it waits for no lock, or the trace does not show the holder. */
uint32_t file_lock_find_holder(const struct view *view, uint32_t vertex);

#endif
