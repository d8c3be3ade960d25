/* The system calls of 32-bit programs, as the BPF programs look them up (bpf/call.h). */
#ifndef ARGUS_RECORDER_LINUX_COMPAT_CALLS_H
#define ARGUS_RECORDER_LINUX_COMPAT_CALLS_H

#include <stdint.h>

#include "linux/shared.h"

/* Fills compat_calls, compat_sockets and compat_ipc. */
void compat_calls_fill(struct bpf_settings *settings);

#endif
