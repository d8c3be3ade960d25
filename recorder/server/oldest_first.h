/* What the rings of all CPUs hold now, oldest records first, for a snapshot. The recording goes on
 * and overwrites the oldest records, so they are read first, a few of each CPU in turn. All CPUs
 * begin and end at the same time. While the programs write nearly as fast as this is read, the rest
 * is copied at once, which takes as much memory as it has.
 */
#ifndef ARGUS_RECORDER_OLDEST_FIRST_H
#define ARGUS_RECORDER_OLDEST_FIRST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"
#include "argus/record.h"
#include "server/backend.h"

/* Read at a time, so that they are still in the cache when they are looked at. */
#define OLDEST_RUN 512u

/* Of one CPU: sequence numbers, see backend_read_at(). */
struct ring_part {
    uint64_t first, next, end;
    uint64_t next_ns;            /* about the time of the next record */
    struct argus_record *copied; /* owned; NULL: read from the ring */
    size_t copied_count, copied_at;
    uint64_t lost_before_copy;
    bool over;
};

struct oldest_first {
    const struct backend *backend; /* borrowed */
    struct ring_part *parts;       /* of each CPU; owned */
    uint32_t cpu_count;
    uint64_t slots;       /* of one CPU */
    uint64_t total, done; /* records */
    bool copied;
};

/* Some records of one CPU, in order; `lost` are missing directly before them. */
struct oldest_run {
    const struct argus_record *records; /* valid until the next call */
    size_t count;
    uint64_t lost;
};

/* Notes where the rings end now. `rest` is zeroed or was never used; the caller calls
 * oldest_first_deinit(), also after an error. */
struct argus_error *oldest_first_init(struct oldest_first *rest, const struct backend *backend);
void oldest_first_deinit(struct oldest_first *rest);
/* The CPU whose records are to be read now; the number of CPUs at the end. */
uint32_t oldest_first_cpu(const struct oldest_first *rest);
/* The next records of the CPU, at most `room` and OLDEST_RUN of them, mostly in `records`. There
 * may be none. */
struct argus_error *oldest_first_read(struct oldest_first *rest, uint32_t cpu,
                                      struct argus_record *records, size_t room,
                                      struct oldest_run *ret);

#endif
