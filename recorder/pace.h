/* Whether the reader of a file should spare the cpu.
 *
 * What it does itself is little: some 20 ns a record to copy it and to put it into columns. Deflating the columns takes
 * 30 more. On a machine with a cpu to spare nobody notices; where more threads want to run than there are cpus, each
 * of those nanoseconds is one that the recorded programs do not get, and at millions of records a second they add up. So
 * then, and only then, records go into a stream as columns that are not deflated: about 9 bytes each instead of 2.
 */
#ifndef ARGUS_RECORDER_PACE_H
#define ARGUS_RECORDER_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* From here on deflating costs more than a hundredth of a cpu. */
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
