/* Writes records to a file: collects them into chunks, adds the stacks that they name, and counts
 * lost records.
 *
 * A ring file overwrites its oldest chunks, including tables, but must always be able to name
 * everything that it holds. So its time is divided into epochs, each at most a quarter of the file.
 * At the end of an epoch all names for records of that epoch are written again: its threads, their
 * images, the stacks, the kernel symbols. As long as the file holds a part of an epoch, it also
 * holds the beginning of the next one, and with it these names.
 */
#ifndef ARGUS_RECORDER_SINK_H
#define ARGUS_RECORDER_SINK_H

#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"
#include "argus/record.h"
#include "argus/trace.h"
#include "server/backend.h"

struct sink;

struct sink_totals {
    uint64_t records, lost, bytes;
    uint64_t stacks_lost; /* named by records, but no longer in the kernel's table */
    uint64_t oldest_ns;   /* the oldest record that the file still holds; 0: none */
};

/* Begins a trace in `output` (copied), with the header and the notes of `backend` (borrowed as
 * well); a ring file of `ring_bytes`, or a stream (0). `codec` as in argus_writer_choose_codec().
 * `key`: encrypts the copied stacks; without one that is set, none are written. */
struct argus_error *sink_create(const struct argus_output *output, struct backend *backend,
                                uint64_t ring_bytes, enum argus_codec codec,
                                const struct argus_snapshot_key *key, struct sink **ret);
/* Without sink_finish() the trace has no end chunk. NULL is fine. */
void sink_destroy(struct sink *sink);

/* Takes records of `cpu`, in order; `lost` records are missing directly before them. */
struct argus_error *sink_take(struct sink *sink, uint32_t cpu, const struct argus_record *records,
                              size_t count, uint64_t lost);
/* Where the next records of `cpu` are best put before they are taken: then they need not be copied.
 * `*ret_room`: at least 1. NULL without memory. */
struct argus_record *sink_room(struct sink *sink, uint32_t cpu, size_t *ret_room);
/* `spare`: saves CPU time (see pace.h) by small chunks, whose records are still in the cache, and
 * by writing kernel symbols at most once a minute. */
struct argus_error *sink_spare(struct sink *sink, bool spare);
/* From now on, saves time as well, as argus_writer_hurry() does. */
struct argus_error *sink_hurry(struct sink *sink);
/* Writes a note that is not among those of the backend. */
struct argus_error *sink_note(struct sink *sink, const char *text);
/* Writes a record of the recorder's own (ARGUS_ID_SUSPENDED, ARGUS_ID_CLOCK_STEP); a ring file
 * repeats it later. */
struct argus_error *sink_marker(struct sink *sink, const struct argus_record *marker);
/* Writes marks (ARGUS_ID_LEFT_OUT), at least one, in order. A ring file repeats what the last of
 * them says. */
struct argus_error *sink_left_out(struct sink *sink, const struct argus_record *marks,
                                  size_t count);
/* Writes records that belong to no CPU and need not be repeated: those of backend_held_locks(). */
struct argus_error *sink_read_elsewhere(struct sink *sink, const struct argus_record *records,
                                        size_t count);
/* Writes pending records and new images, notes and kernel symbols, so that a crash loses less. */
struct argus_error *sink_flush(struct sink *sink);
/* Writes threads and images as they are now: at the beginning of a stream or a ring file. */
struct argus_error *sink_tables(struct sink *sink);
/* Writes threads, images (`all`: as backend_write_images), kernel symbols, counters and the end. */
struct argus_error *sink_finish(struct sink *sink, bool all_images);

/* Records of `cpu` lost so far. */
uint64_t sink_lost(const struct sink *sink, uint32_t cpu);
struct sink_totals sink_totals(const struct sink *sink);

#endif
