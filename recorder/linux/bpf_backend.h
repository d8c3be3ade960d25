/* Recording by BPF programs on raw tracepoints: the backend of choice on Linux. */
#ifndef ARGUS_RECORDER_LINUX_BPF_BACKEND_H
#define ARGUS_RECORDER_LINUX_BPF_BACKEND_H

#include "server/backend.h"

extern const struct backend_ops bpf_backend_ops;

#endif
