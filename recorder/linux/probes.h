/* Attaches the one BPF program for probes at each requested place. */
#ifndef ARGUS_RECORDER_LINUX_PROBES_H
#define ARGUS_RECORDER_LINUX_PROBES_H

#include <stdbool.h>

#include <bpf/libbpf.h>

#include "argus/error.h"
#include "server/probe_list.h"

struct btf;
struct probes;

#define PROBE_PROGRAM "on_probe"

/* Before loading: leaves the program out if there is nothing to attach. `list`: NULL for none. */
void probes_prepare(struct bpf_object *object, const struct btf *btf,
                    const struct probe_list *list);
/* After loading, if the program was loaded. `object` and `list` are borrowed. */
struct argus_error *probes_create(struct bpf_object *object, const struct btf *btf,
                                  const struct probe_list *list, struct probes **ret);

/* After loading. Calls `refused` for each place that the kernel refuses. */
typedef void (*probes_refused)(void *context, const struct probe *probe, int error_number);
struct argus_error *probes_attach(struct probes *probes, probes_refused refused, void *context);

/* Removes a probe from all programs. `refused` as in probes_attach(), for other probes of its
 * file. */
struct argus_error *probes_take_out(struct probes *probes, const struct probe *probe,
                                    probes_refused refused, void *context);
bool probes_is_attached(const struct probes *probes, const struct probe *probe);
/* The number of its hits so far, on the whole machine. */
uint64_t probes_hits(const struct probes *probes, const struct probe *probe);
/* Borrowed. */
const struct probe_list *probes_list(const struct probes *probes);

/* Stops all records of probes at once. probes_destroy() then removes the probes from the programs,
 * which can take seconds. */
void probes_mute(struct probes *probes);
/* Undoes probes_mute(). */
void probes_unmute(struct probes *probes);
void probes_destroy(struct probes *probes);

#endif
