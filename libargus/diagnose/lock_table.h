/* The table of a file's locks and their holders; file_locks.c explains how they are found. */
#ifndef ARGUS_DIAGNOSE_LOCK_TABLE_H
#define ARGUS_DIAGNOSE_LOCK_TABLE_H

#include "slice/timeline.h"

#define MOST_HELD 32

/* Locks of different families do not conflict. */
enum lock_family { FAMILY_FLOCK, FAMILY_FCNTL, FAMILY_NAME, FAMILY_LEASE };

/* The lock that a thread requests. */
struct lock_request {
    uint64_t inode, first, last;
    uint32_t device, thread;
    enum lock_family family;
    bool any_device; /* the device is not known */
    bool exclusive;
};

struct held_table {
    const struct view *view;
    struct lock_request request;
    const struct argus_file_lock *held[MOST_HELD]; /* the latest one last */
    size_t count;
    uint64_t true_ns; /* the time of the last event */
};

/* Whether the event is about a lock of the family that is requested, on that file. */
bool lock_is_of_file(const struct lock_request *request, const struct argus_file_lock *lock);
/* The process of a lock's thread. */
uint32_t lock_process(const struct view *view, const struct argus_file_lock *lock);
/* What the call of this event requested. */
struct lock_request lock_request_of(const struct argus_file_lock *lock);
/* The index of the first event at `time_ns` or later. */
size_t file_locks_from(const struct argus_file_lock *locks, size_t count, uint64_t time_ns);

/* Notes the next event of the file. */
void held_take(struct held_table *table, const struct argus_file_lock *event);
/* The thread whose lock is in the way of the request; ARGUS_NONE: none that is known. */
uint32_t held_holder_at(struct held_table *table, uint64_t time_ns);
/* The holder that only later events (from index `from`) show: the thread that releases the lock, or
 * that has it in the kernel's list; ARGUS_NONE. */
uint32_t lock_holder_told_later(const struct view *view, const struct lock_request *request,
                                size_t from);

/* The process that is the parent of `process` at `time_ns`; ARGUS_NONE. */
uint32_t lock_parent_of(const struct view *view, uint32_t process, uint64_t time_ns);

#endif
