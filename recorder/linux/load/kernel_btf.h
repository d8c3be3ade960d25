/* Facts about tracepoints and variables from the running kernel's BTF. */
#ifndef ARGUS_RECORDER_LINUX_KERNEL_BTF_H
#define ARGUS_RECORDER_LINUX_KERNEL_BTF_H

#include <stdbool.h>
#include <stdint.h>

#include "argus/error.h"

#include "linux/shared.h"

struct btf;

/* Reads /sys/kernel/btf/vmlinux. The owner ends it with btf__free(). */
struct argus_error *kernel_btf_load(struct btf **ret);

/* How many arguments the tracepoint passes, without the leading `void *`; -1 if the kernel does not
 * have it. */
int kernel_btf_tracepoint_arguments(const struct btf *btf, const char *tracepoint);

/* Whether the kernel has the BPF helper "BPF_FUNC_…". Distributions backport helpers to older
 * kernels, so the version does not tell. */
bool kernel_btf_has_helper(const struct btf *btf, const char *name);

/* Fills has_preempt_count, preempt_count_offset, and the fields that depend on the tracepoints'
 * arguments. */
void kernel_btf_fill(const struct btf *btf, struct bpf_settings *settings);

#endif
