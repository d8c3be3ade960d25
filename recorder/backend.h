/* What the recorder's core (recording.c, server.c) asks of an operating system. linux/ implements it over BPF.
 *
 * A backend records from backend_create() on, into rings that it owns, one for each cpu, which overwrite their oldest
 * records. The core takes records out, either as they come (backend_read) or as a copy of all that is there
 * (backend_copy), and asks for the tables that name what the records speak of. One thread owns a backend.
 */
#ifndef ARGUS_RECORDER_BACKEND_H
#define ARGUS_RECORDER_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"
#include "argus/record.h"
#include "argus/trace.h"

struct backend;

struct backend_options {
    uint64_t ring_bytes; /* of all cpus together; rounded down to what fits */
    uint32_t rate_hz;    /* cpu samples a second on each cpu; 0: none */
    bool stacks;
};

/* Attaches everything that this kernel offers. What is missing but not needed is a note, not an error. */
struct argus_error *backend_create(const struct backend_options *options, struct backend **ret);
/* Detaches (if backend_detach() has not) and frees; NULL is fine. */
void backend_destroy(struct backend *backend);
/* Ends the recording; what is in the rings stays readable. */
void backend_detach(struct backend *backend);

/* Which machine and clock; ring_bytes is left 0. */
struct argus_error *backend_header(const struct backend *backend, struct argus_trace_header *ret);
uint32_t backend_cpu_count(const struct backend *backend);
/* Bytes of all rings; how many records they hold. */
uint64_t backend_ring_bytes(const struct backend *backend);
/* Records emitted so far on `cpu`, whether still there or overwritten. */
uint64_t backend_emitted(const struct backend *backend, uint32_t cpu);

/* The next records of `cpu` that backend_read() has not yet returned; at most `room`, 0 when there are none now.
 * `*ret_lost`: how many were overwritten unread directly before them. */
size_t backend_read(struct backend *backend, uint32_t cpu, struct argus_record *records,
                    size_t room, uint64_t *ret_lost);
/* How many records of `cpu` backend_read() has not yet returned; more than the ring holds when some are lost. */
uint64_t backend_unread(const struct backend *backend, uint32_t cpu);

/* A copy of what a cpu's ring holds now, while it goes on recording: `*ret_records` is for free(). */
struct argus_error *backend_copy(struct backend *backend, uint32_t cpu,
                                 struct argus_record **ret_records, size_t *ret_count);

/* Takes in what the kernel reports beside the rings (new mappings). To be called several times a second. */
struct argus_error *backend_collect(struct backend *backend);

/* The frames of stack `id`, innermost first; 0 when it is not there. `frames` has room for ARGUS_STACK_MAX_FRAMES. */
size_t backend_stack(struct backend *backend, uint64_t id, uint64_t *frames);

/* Writes the tables as they are now. Images: those that backend_write_images() has not written yet, or `all`. */
struct argus_error *backend_write_threads(struct backend *backend, struct argus_writer *writer);
struct argus_error *backend_write_images(struct backend *backend, struct argus_writer *writer,
                                         bool all);
/* The symbols of `count` kernel addresses, which are sorted in place. */
struct argus_error *backend_write_kernel_symbols(struct backend *backend, uint64_t *addresses,
                                                 size_t count, struct argus_writer *writer);

/* Sentences about what could not be attached and why; borrowed. */
size_t backend_notes(const struct backend *backend, const char *const **ret);
/* The backend's own counts: stacks_lost, compat_skipped, missed …; borrowed names. At most `room`. */
size_t backend_counters(const struct backend *backend, struct argus_counter *ret, size_t room);

#endif
