/* Properties of system calls: bitmaps for the BPF programs, by the numbers of this architecture. */
#ifndef ARGUS_RECORDER_LINUX_SYSCALL_BITMAPS_H
#define ARGUS_RECORDER_LINUX_SYSCALL_BITMAPS_H

#include "linux/shared.h"

/* Fills settings->object_syscalls and ->long_syscalls. */
void syscalls_fill(struct bpf_settings *settings);

#endif
