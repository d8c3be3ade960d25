/* Where records go: gathers them into chunks, adds the stacks that they name, and knows what was lost.
 *
 * A ring file overwrites its oldest chunks, and tables with them. So that it can name everything in it at any time, its
 * life is cut into epochs, each at most a quarter of the file. At the end of an epoch everything that names a record
 * of that epoch is written again: the threads that lived in it, their images, the stacks, the kernel symbols. A record
 * is in the file as long as some part of its epoch is, and then so is the beginning of the next epoch.
 */
#ifndef ARGUS_RECORDER_SINK_H
#define ARGUS_RECORDER_SINK_H

#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"
#include "argus/record.h"
#include "argus/trace.h"
#include "backend.h"

struct sink;

struct sink_totals {
    uint64_t records, lost, bytes;
    uint64_t stacks_lost; /* named by records, but no longer in the kernel's table */
    uint64_t oldest_ns;   /* of the records that the file still has; 0: it has none */
};

/* Begins a trace in `fd`, which is borrowed, with the header and the notes of `backend` (borrowed as well); a ring file of
 * `ring_bytes`, or a stream (0). `codec` as in argus_writer_choose_codec(). */
struct argus_error *sink_create(int fd, struct backend *backend, uint64_t ring_bytes,
                                enum argus_codec codec, struct sink **ret);
/* Without sink_finish() the trace stays without an end. NULL is fine. */
void sink_destroy(struct sink *sink);

/* Takes records of `cpu`, in order; `lost` are missing directly before them. */
struct argus_error *sink_take(struct sink *sink, uint32_t cpu, const struct argus_record *records,
                              size_t count, uint64_t lost);
/* While `spare`, cpu time is saved (see pace.h): chunks are small, so that the cache still has their records, and kernel
 * symbols can wait a minute. */
struct argus_error *sink_spare(struct sink *sink, bool spare);
/* Writes a record of the recorder's own (ARGUS_ID_SUSPENDED, ARGUS_ID_CLOCK_STEP); a ring file repeats it later. */
struct argus_error *sink_marker(struct sink *sink, const struct argus_record *marker);
/* Writes records that hold for their own time only, of no cpu: what was read elsewhere (backend_held_locks()). */
struct argus_error *sink_read_elsewhere(struct sink *sink, const struct argus_record *records,
                                        size_t count);
/* Writes what is gathered, and the images, notes and kernel symbols that are new, so that a crash of ours loses less. */
struct argus_error *sink_flush(struct sink *sink);
/* Writes threads and images as they are now: at the beginning of a stream or a ring file. */
struct argus_error *sink_tables(struct sink *sink);
/* Writes threads, images (`all`: as backend_write_images), kernel symbols, counters and the end. */
struct argus_error *sink_finish(struct sink *sink, bool all_images);

/* Records of `cpu` that are missing so far. */
uint64_t sink_lost(const struct sink *sink, uint32_t cpu);
struct sink_totals sink_totals(const struct sink *sink);

#endif
