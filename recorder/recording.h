/* One recording, in one of two modes over the same rings and the same sink:
 *
 *   stream  a reader follows the rings and writes a file as it goes
 *   memory  the rings are the flight recorder; a snapshot copies and compresses them
 *
 * One thread owns it and calls recording_step() again and again.
 */
#ifndef ARGUS_RECORDER_RECORDING_H
#define ARGUS_RECORDER_RECORDING_H

#include <stdint.h>

#include "argus/error.h"
#include "backend.h"

enum recording_mode { RECORDING_STREAM = 1, RECORDING_MEMORY = 2 };

struct recording;

struct recording_numbers {
    uint64_t records; /* in the file; in memory mode those in the rings */
    uint64_t lost;    /* of these, not kept although they should have been */
    uint64_t stacks_lost;
    uint64_t bytes;   /* of the file */
    uint64_t emitted; /* ever, on all cpus */
    uint64_t ring_bytes;
    uint64_t duration_ns; /* since the beginning; of a finished recording, its whole length */
};

/* Starts to record. `fd` (stream mode; else -1) is taken: it is closed at the end, also after an error. */
struct argus_error *recording_create(enum recording_mode mode,
                                     const struct backend_options *options, int fd,
                                     struct recording **ret);
/* Detaches and frees; a stream that was not finished stays without an end. NULL is fine. */
void recording_destroy(struct recording *recording);

/* Does what has become due; `*ret_wait_ms`: after how long to call again. */
struct argus_error *recording_step(struct recording *recording, int *ret_wait_ms);

/* Memory mode: writes what the rings hold to `fd`, which is taken, while the recording goes on. */
struct argus_error *recording_snapshot(struct recording *recording, int fd,
                                       struct recording_numbers *ret);

/* Detaches. Stream mode: drains the rings and ends the file. */
struct argus_error *recording_stop(struct recording *recording);

struct recording_numbers recording_numbers(const struct recording *recording);
uint32_t recording_cpu_count(const struct recording *recording);
enum recording_mode recording_mode(const struct recording *recording);
size_t recording_notes(const struct recording *recording, const char *const **ret);

#endif
