/* The threads that the BPF programs have seen (bpf/process.h), in a map of theirs. */
#ifndef ARGUS_RECORDER_LINUX_THREAD_MAP_H
#define ARGUS_RECORDER_LINUX_THREAD_MAP_H

#include "linux/threads.h"

/* `map_fd` is borrowed. */
struct thread_source thread_map_source(int map_fd);

#endif
