/* The BPF programs: which tracepoint each belongs to, and loading and attaching them. */
#ifndef ARGUS_RECORDER_LINUX_PROGRAMS_H
#define ARGUS_RECORDER_LINUX_PROGRAMS_H

#include <stdint.h>

#include "argus/error.h"
#include "server/backend.h"

struct programs;
struct bpf_object;

/* Loads and attaches for `slot_count` slots on each of `cpu_count` cpus; detach or destroy ends the
 * recording. */
struct argus_error *programs_create(const struct backend_options *options, uint32_t cpu_count,
                                    uint32_t slot_count, struct programs **ret);
/* A CPU has come online: attaches per-CPU programs there as well. */
struct argus_error *programs_cpu_came(struct programs *programs, uint32_t cpu);
/* Call it regularly: removes probes that are hit too often, with a note for each. */
struct argus_error *programs_spare(struct programs *programs, uint64_t now_ns);
/* What is done every few milliseconds while programs are being detached, which may take a second.
 */
struct programs_meanwhile {
    void (*work)(void *context);
    void *context;
};
/* Leaves out `categories` (bits) from now on, and records again what was left out before and is not
 * among them. Requires options->may_leave_out. */
struct argus_error *programs_leave_out(struct programs *programs, uint32_t categories,
                                       const struct programs_meanwhile *meanwhile);
/* CPU time that the programs of each category have used since the beginning. Requires
 * options->may_leave_out. */
void programs_cost(const struct programs *programs, uint64_t ret_ns[CATEGORY_COUNT]);
void programs_detach(struct programs *programs);
/* Detaches, and removes the probes from all processes, which can take seconds. */
void programs_release(struct programs *programs);
void programs_destroy(struct programs *programs);

/* Borrowed. */
struct bpf_object *programs_object(const struct programs *programs);
/* The descriptor of a map by its name in bpf/, borrowed; -1 if there is none. */
int programs_map(const struct programs *programs, const char *name);
/* Runs that the kernel skipped because the same program was already running on that CPU. Each is a
 * lost record. */
uint64_t programs_missed(const struct programs *programs);
/* What could not be attached; borrowed. */
size_t programs_notes(const struct programs *programs, const char *const **ret);

#endif
