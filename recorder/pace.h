/* Whether the reader of a file should spare the cpu.
 *
 * A record takes it some 50 ns: to copy, to put into columns, to pack. On a machine with a cpu to spare nobody notices. Where
 * more threads want to run than there are cpus, the recorded programs do not get that time, and at millions of records a
 * second it adds up. Then the reader makes smaller chunks, whose records are still in the cache, and defers kernel symbols.
 */
#ifndef ARGUS_RECORDER_PACE_H
#define ARGUS_RECORDER_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* From here on reading costs more than a hundredth of a cpu. */
#define PACE_RECORDS_PER_S 400000u

/* A zeroed struct is ready. */
struct pace {
    uint64_t looked_ns, emitted; /* at the last look */
    bool fast;                   /* records came faster than PACE_RECORDS_PER_S before it */
};

/* Takes in that `emitted` records have come until `now_ns`; true: since the last look they came fast. Looks that are less
 * than a millisecond apart say what the last one said. */
bool pace_is_fast(struct pace *pace, uint64_t now_ns, uint64_t emitted);

#endif
