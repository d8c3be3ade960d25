/* What the kernel tells about a thread in /proc/PID/task/TID/stat (proc(5)). */
#ifndef ARGUS_RECORDER_PROC_STAT_H
#define ARGUS_RECORDER_PROC_STAT_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol.h"

struct proc_stat {
    char name[PROTOCOL_COMM_BYTES], state;
    int parent, group;
    int terminal_group; /* of the terminal's foreground; -1: it has none */
    bool is_kernel;     /* a kernel thread */
};

/* False: the thread is gone. Any thread may call it. */
bool proc_stat_read(uint32_t pid, uint32_t tid, struct proc_stat *ret);

#endif
