/* Unpacks the chunks of a trace on other CPUs before the merge needs them.
 *
 * The merge needs the chunks roughly in order of their first records, so threads process them in
 * that order and stay a few chunks ahead. Nothing depends on their progress: if no thread has begun
 * a chunk that the merge needs, the merging thread unpacks it itself. So a machine with one CPU
 * needs no threads, and the result is the same everywhere. At any time there are a few buffers per
 * CPU of the trace, each for one chunk, which are reused.
 */
#ifndef ARGUS_EVENT_READ_AHEAD_H
#define ARGUS_EVENT_READ_AHEAD_H

#include "argus/trace.h"

/* Room before the first record of a chunk, for records that the merge holds back. */
#define READ_AHEAD_MARGIN 65u

/* The records of a chunk: times in ns; sorted by time, those with the same time in order of
 * writing. */
struct read_chunk {
    /* behind the margin; READ_AHEAD_MARGIN before it the buffer begins */
    struct argus_record *records;
    size_t count;
    bool damaged; /* its payload is damaged, so there are no records */
};

struct read_ahead;

/* Starts with the record chunks of `trace`, which is borrowed. */
struct argus_error *read_ahead_create(const struct argus_trace *trace, struct read_ahead **ret);

/* Returns chunk `index`, once; waits until it is unpacked. The caller owns `ret` until it returns
 * it. */
struct argus_error *read_ahead_take(struct read_ahead *ahead, uint32_t index,
                                    struct read_chunk *ret);
void read_ahead_give_back(struct read_ahead *ahead, struct read_chunk *chunk);

/* Ends the threads. Chunks that were taken must be returned before. NULL is fine. */
void read_ahead_destroy(struct read_ahead *ahead);

#endif
