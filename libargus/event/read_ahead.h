/* Unpacks the chunks of a trace on other cpus, before whoever merges them needs them.
 *
 * The chunks will be wanted about in the order of their first records, so threads work through them in that order and stay
 * a few chunks ahead. Nothing depends on how far they get: a chunk that is wanted and that nobody has begun is unpacked by
 * the one who wants it. So a machine with one cpu does without threads, and the result is the same everywhere. At any time
 * there are a few buffers per cpu of the trace, each for one chunk, which are used again.
 */
#ifndef ARGUS_EVENT_READ_AHEAD_H
#define ARGUS_EVENT_READ_AHEAD_H

#include "argus/trace.h"

/* Room before the first record of a chunk, for what the merge puts there. */
#define READ_AHEAD_MARGIN 65u

/* The records of a chunk: times in ns, in the order of time, those of one time in the order of writing. */
struct read_chunk {
    struct argus_record
        *records; /* behind the margin; READ_AHEAD_MARGIN before it the buffer begins */
    size_t count;
    bool damaged; /* its payload is damaged: no records */
};

struct read_ahead;

/* Begins with the record chunks of `trace`, which is borrowed. */
struct argus_error *read_ahead_create(const struct argus_trace *trace, struct read_ahead **ret);

/* The chunk `index`, each once; waits for it. `ret` is the caller's until it gives it back. */
struct argus_error *read_ahead_take(struct read_ahead *ahead, uint32_t index,
                                    struct read_chunk *ret);
void read_ahead_give_back(struct read_ahead *ahead, struct read_chunk *chunk);

/* Ends the threads. Chunks that were taken are to be given back before. NULL is fine. */
void read_ahead_destroy(struct read_ahead *ahead);

#endif
