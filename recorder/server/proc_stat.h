/* Contents of /proc/PID/task/TID/stat (proc(5)). */
#ifndef ARGUS_RECORDER_PROC_STAT_H
#define ARGUS_RECORDER_PROC_STAT_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol.h"

struct proc_stat {
    char name[PROTOCOL_COMM_BYTES], state;
    int parent, group, session; /* of macOS's processes the session is unknown: 0 */
    int terminal_group;         /* the foreground process group of its terminal; -1: no terminal */
    bool is_kernel;             /* a kernel thread */
    uint64_t started_ns; /* CLOCK_MONOTONIC, to a hundredth of a second; 0: unknown, as on macOS */
    uint64_t started_ticks; /* the same as Linux has it, to recognize a process by; 0 on macOS */
    uint64_t ran_ns;        /* the cpu time of the thread, to a hundredth of a second; 0 on macOS */
};

/* False: the thread is gone. Any thread may call it. */
bool proc_stat_read(uint32_t pid, uint32_t tid, struct proc_stat *ret);

/* Whether the process is in the foreground of a terminal. */
static inline bool proc_stat_in_foreground(const struct proc_stat *stat)
{
    return stat->terminal_group > 0 && stat->terminal_group == stat->group;
}

/* What a thread waits for, judged by its system call. */
enum proc_wait { PROC_WAIT_OTHER, PROC_WAIT_CHILD, PROC_WAIT_FUTEX };

/* OTHER also if unknown: the thread runs, has ended, or is a 32-bit one. Any thread may call it. */
enum proc_wait proc_wait_read(uint32_t pid, uint32_t tid);

/* Where a thread is in a system call. */
struct proc_place {
    long number;    /* of the call */
    uint64_t first; /* its first argument */
    uint64_t sp;    /* its stack pointer; 0: the thread is in no system call */
};

/* False: the thread is gone, or it is unknown, as on macOS. Any thread may call it. */
bool proc_place_read(uint32_t pid, uint32_t tid, struct proc_place *ret);

#endif
