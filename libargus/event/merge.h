/* All records of a trace in time order.
 *
 * A chunk holds records of one cpu, nearly in order: an interrupt between taking the time and writing puts neighbours a
 * few places out of order. So each cpu's chunks are read one at a time and sorted as they come, with the last few
 * records held back until the next chunk is there; and the cpus are merged through a heap whose top is emitted until
 * its time passes that of the second. With two cpus that is one comparison a record.
 *
 * Order: time, then cpu, then position, so the same file gives the same order. Timestamps come out in ns and never go
 * backward: what is still out of order (damage) is moved to the time of the record before it.
 * Memory: one chunk for each cpu that has records near the current time.
 */
#ifndef ARGUS_EVENT_MERGE_H
#define ARGUS_EVENT_MERGE_H

#include "argus/event.h"

/* A record that the merge puts in where records are missing: arg1 how many, arg2 the time in ns of the last record
 * before them on the record's cpu (0: none), arg3 1: a damaged chunk. Not in files; one that is there means the same. */
#define MERGE_ID_LOST ARGUS_DEBUGID(ARGUS_CLASS, 0xff, 0x3fff)

struct merge;

/* `trace` is borrowed. Darwin's records come translated into Argus's (event/darwin/darwin.h). */
struct argus_error *merge_create(const struct argus_trace *trace, struct merge **ret);
/* The same, but Darwin's records as they are. */
struct argus_error *merge_create_raw(const struct argus_trace *trace, struct merge **ret);
void merge_destroy(struct merge *merge);

/* The next record, valid until the next call; NULL at the end. */
struct argus_error *merge_next(struct merge *merge, const struct argus_record **ret);

/* Records of the file handed out so far. */
uint64_t merge_position(const struct merge *merge);

#endif
