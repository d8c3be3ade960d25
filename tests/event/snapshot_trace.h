/* A trace with snapshots of this program's own stacks, and the result of unwinding one. An error
 * fails the test. */
#ifndef ARGUS_TESTS_EVENT_SNAPSHOT_TRACE_H
#define ARGUS_TESTS_EVENT_SNAPSHOT_TRACE_H

#include "argus/unwind.h"

#define ID 0x8000000000000007u /* of the stack under test */

extern char snapshot_trace_path[64]; /* set by the test */
/* The frames of an interpreter in the stack ID; set and cleared by the test. */
extern const uint64_t *snapshot_trace_interpreted;
extern size_t snapshot_trace_interpreted_count;

/* Encrypts the snapshots; NULL: they are not encrypted. Set and cleared by the test. */
extern const struct argus_snapshot_key *snapshot_trace_key;

/* Asserts that there is no error. */
void must(struct argus_error *error);

/* Writes a new file: a record for each snapshot, and the snapshot twice; with `images`, also the
 * images that are mapped here now. */
void snapshot_trace_write(const struct argus_snapshot *snapshots, size_t count, uint64_t ring_bytes,
                          bool images);
struct argus_trace *snapshot_trace_open(void);
/* The frames of the stack ID, and their number; closes the trace. */
size_t snapshot_trace_take(struct argus_trace *trace, uint64_t ret[ARGUS_STACK_MAX_FRAMES]);

/* That the place of a chunk of snapshots has been scrubbed: it is a chunk of stacks, a header of padding
 * (docs/man/argus-trace.5.md), and zeros. */
void snapshot_trace_assert_scrubbed(const struct argus_chunk *place);

/* Changes the byte at `at` in the payload of the chunk of snapshots, and makes the checksums right
 * again. */
void snapshot_trace_change(uint32_t at);

/* That the chunk of snapshots does not show the memory which was copied: no two words of it. */
void snapshot_trace_assert_unreadable(const struct argus_snapshot *snapshot);
/* That the file, without its key, says what it has, and stays as it is when it is finished. */
void snapshot_trace_assert_locked(void);

#endif
