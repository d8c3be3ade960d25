/* All records of a trace in time order.
 *
 * A chunk contains records of one CPU, nearly in order: an interrupt between reading the clock and
 * writing the record puts neighbours a few places out of order. So each CPU's chunks are read and
 * sorted one at a time, and the last few records are held back until the next chunk is read. The
 * CPUs are merged by a heap: records of the top are emitted until their time exceeds that of the
 * second. With two CPUs, that is one comparison per record.
 *
 * Records are ordered by time, then CPU, then position, so the same file gives the same order.
 * Timestamps are in ns and never decrease: a record that is still out of order (damage) gets the
 * time of the previous record. Memory: one chunk for each CPU that has records near the current
 * time.
 */
#ifndef ARGUS_EVENT_MERGE_H
#define ARGUS_EVENT_MERGE_H

#include "argus/event.h"

/* A record that the merge inserts where records are missing: arg1 is how many, arg2 the time in ns
 * of the last record before them on the same CPU (0: none), arg3 1 for a damaged chunk. Files do
 * not contain it; if one does, it means the same. */
#define MERGE_ID_LOST ARGUS_DEBUGID(ARGUS_CLASS, 0xff, 0x3fff)

struct merge;

/* `trace` is borrowed. Darwin's records are translated into Argus's (event/darwin/darwin.h). */
struct argus_error *merge_create(const struct argus_trace *trace, struct merge **ret);
/* The same without translating Darwin's records. */
struct argus_error *merge_create_raw(const struct argus_trace *trace, struct merge **ret);
void merge_destroy(struct merge *merge);

/* The next record, valid until the next call; NULL at the end. */
struct argus_error *merge_next(struct merge *merge, const struct argus_record **ret);

/* Number of the file's records returned so far. */
uint64_t merge_position(const struct merge *merge);

#endif
