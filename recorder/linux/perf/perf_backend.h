/* Recording over perf_event: for kernels without BPF or BTF, and where BPF is not permitted. */
#ifndef ARGUS_RECORDER_LINUX_PERF_BACKEND_H
#define ARGUS_RECORDER_LINUX_PERF_BACKEND_H

#include "server/backend.h"

extern const struct backend_ops perf_backend_ops;

#endif
