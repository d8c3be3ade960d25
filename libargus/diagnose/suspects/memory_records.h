/* What the records show of a stretch in which a thread got no memory: memory_records.c. */
#ifndef ARGUS_DIAGNOSE_MEMORY_RECORDS_H
#define ARGUS_DIAGNOSE_MEMORY_RECORDS_H

#include "diagnose/diagnoser.h"

/* A process that took memory in the window. */
struct memory_taker {
    uint32_t process;
    uint32_t thread;                  /* the one for which most was freed; ARGUS_NONE: none */
    uint64_t thread_most;             /* … so many bytes */
    uint64_t freed_bytes;             /* by its threads, for what they took */
    uint64_t first_bytes, last_bytes; /* its size at the beginning and the end */
    uint64_t first_ns, last_ns;       /* when these were seen; last_ns 0: never */
};

struct memory_want {
    /* How long the thread freed or moved memory; waited for pages that had been swapped out. */
    uint64_t kind_ns[ARGUS_MEMORY_COMPACTION + 1], swap_ns;
    uint64_t runnable_ns;        /* how long it wanted a CPU, perhaps in the midst of freeing */
    uint64_t group, limit_bytes; /* of its control group at its limit; 0: none */
    char group_name[33];         /* "": not known */
    VEC(struct memory_taker) takers;
};

/* The sum of all kinds. */
uint64_t memory_want_stalled_ns(const struct memory_want *want);

/* Whether the lack of memory explains the window: it is at least half of the time in which the
 * thread had a CPU or waited, and at least as long as the time in which the thread wanted a CPU.
 * Programs that are short of memory keep the CPUs busy, too. */
bool memory_want_explains(const struct memory_want *want, struct window window);

/* Reads the records of `window` about `thread`; `takers` only if the lack of memory explains the
 * window. If the thread's group was at its limit, only processes that were seen at the limit of the
 * same group take part. `*ret` must be freed also after an error. */
struct argus_error *memory_want_read(const struct diagnoser *d, uint32_t thread,
                                     struct window window, struct memory_want *ret);
void memory_want_deinit(struct memory_want *want);

#endif
