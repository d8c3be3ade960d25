/* Whether the reader that writes a file should save CPU time.
 *
 * Copying, encoding and compressing a record takes the reader about 50 ns. On a machine with an
 * idle CPU this costs the recorded programs nothing. If more threads are runnable than there are
 * CPUs, the recorded programs lose that time, which adds up at millions of records a second. Then
 * the reader makes smaller chunks, whose records are still in the cache, and defers kernel symbols.
 */
#ifndef ARGUS_RECORDER_PACE_H
#define ARGUS_RECORDER_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* Above this rate, reading costs more than a hundredth of a CPU. */
#define PACE_RECORDS_PER_S 400000u

/* A zeroed struct is ready. */
struct pace {
    uint64_t looked_ns, emitted; /* at the last look */
    bool fast;                   /* records came faster than PACE_RECORDS_PER_S before it */
};

/* Updates the rate: `emitted` records were emitted up to `now_ns`. True: they came fast since the
 * last call. A call within a millisecond of the last one returns the last answer. */
bool pace_is_fast(struct pace *pace, uint64_t now_ns, uint64_t emitted);

#endif
