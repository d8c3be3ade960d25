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

/* What a thread waits for, as far as its system call tells. */
enum proc_wait { PROC_WAIT_OTHER, PROC_WAIT_CHILD, PROC_WAIT_FUTEX };

/* OTHER as well when it cannot be told: the thread runs or is gone, or is a 32-bit one. Any thread may call it. */
enum proc_wait proc_wait_read(uint32_t pid, uint32_t tid);

#endif
