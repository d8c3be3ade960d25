/* One recording, in one of two modes over the same rings and the same sink:
 *
 *   stream  a reader follows the rings and writes a file continuously
 *   memory  the rings are the flight recorder; a snapshot compresses them, the oldest records first
 *
 * One thread owns it and calls recording_step() again and again.
 */
#ifndef ARGUS_RECORDER_RECORDING_H
#define ARGUS_RECORDER_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"
#include "argus/trace.h"
#include "server/backend.h"
#include "server/outlet.h"

struct recording;

struct recording_numbers {
    uint64_t records; /* in the file; in memory mode those in the rings */
    uint64_t lost;    /* how many records should have been kept but were lost */
    uint64_t stacks_lost;
    uint64_t bytes;   /* of the file */
    uint64_t emitted; /* since the start, on all CPUs */
    uint64_t ring_bytes;
    uint64_t duration_ns; /* since the start; of a finished recording, its total length */
    /* The trace clock from which the file (in memory mode: the rings) is complete. */
    uint64_t oldest_ns;
    uint64_t now_ns; /* the trace clock now, or at the end */
};

struct recording_options {
    enum recording_mode mode;
    uint64_t file_ring_bytes;      /* RECORDING_RING: of the file */
    uint32_t max_overhead;         /* in 1/10000 of the time of all CPUs; 0: no limit */
    uint32_t may_leave_out;        /* bits of categories, for max_overhead */
    enum argus_codec codec;        /* of files; as in argus_writer_choose_codec() */
    struct argus_snapshot_key key; /* of `outlet`, as in sink_create() */
};

/* Records what `backend` emits, into `outlet` (NULL in memory mode). Takes ownership of both, also
 * after an error. */
struct argus_error *recording_create(const struct recording_options *options,
                                     struct backend *backend, struct outlet *outlet,
                                     struct recording **ret);
/* Detaches and frees; an unfinished stream stays without an end chunk. NULL is fine. */
void recording_destroy(struct recording *recording);

/* Does the work that is due; `*ret_wait_ms`: when to call again. */
struct argus_error *recording_step(struct recording *recording, int *ret_wait_ms);

/* Memory mode: writes what the rings hold to `outlet`, and takes ownership of it. The recording
 * continues. `key`: as in sink_create(). */
struct argus_error *recording_snapshot(struct recording *recording, struct outlet *outlet,
                                       const struct argus_snapshot_key *key,
                                       struct recording_numbers *ret);

/* Detaches. Stream mode: drains the rings and ends the file. */
struct argus_error *recording_stop(struct recording *recording);

/* Detaches because of a failure. Keeps the numbers and the notes, and adds `reason` to them. The
 * file stays without an end chunk. */
void recording_give_up(struct recording *recording, const char *reason);

struct recording_numbers recording_numbers(const struct recording *recording);
/* The path of the output file, as the kernel reports it ("" in memory mode); `*ret_gone`: the file
 * was removed. */
void recording_path(const struct recording *recording, char *ret, size_t room, bool *ret_gone);
/* How long the file system has taken nothing of what waits for it; 0: nothing waits. */
uint64_t recording_waiting_ns(const struct recording *recording);
/* With max_overhead: what the last second has cost, and what is left out now, and for how long. */
struct recording_overhead {
    uint32_t share, left_out;
    uint64_t left_ns[CATEGORY_COUNT];
};
struct recording_overhead recording_overhead(const struct recording *recording);
/* CPU time of the process that writes the file. */
uint64_t recording_writer_cpu_ns(const struct recording *recording);
/* Of one cpu. */
struct reply_cpu recording_cpu_numbers(const struct recording *recording, uint32_t cpu);
/* Borrowed. */
struct backend *recording_backend(const struct recording *recording);
uint32_t recording_cpu_count(const struct recording *recording);
enum recording_mode recording_mode(const struct recording *recording);
size_t recording_notes(const struct recording *recording, const char *const **ret);

#endif
