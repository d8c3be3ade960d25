/* A breakpoint for one thread, in a debug register of the processor: the code stays as it is, and other threads do not see it. */
#ifndef ARGUS_RECORDER_LINUX_STEP_BREAKPOINT_H
#define ARGUS_RECORDER_LINUX_STEP_BREAKPOINT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct step_breakpoint {
    pid_t tid; /* 0: not set */
    uint64_t address;
    int fd;   /* of perf_event; -1: the register was set by ptrace … */
    int slot; /* … number this */
};

/* May this kernel and user do it in the way that leaves nothing behind (see step_breakpoint.c)? */
bool step_breakpoint_is_safe(pid_t tid, uint64_t address);

/* 0, or an errno; ENOSPC: all registers are taken. With `stopped` false, the thread runs, and only the safe way is tried. */
int step_breakpoint_set(pid_t tid, uint64_t address, int slot, bool stopped,
                        struct step_breakpoint *ret);
/* The thread is stopped, or has ended. */
void step_breakpoint_clear(struct step_breakpoint *breakpoint);

/* Switches one that stays set off and on; the thread is stopped. */
void step_breakpoint_enable(struct step_breakpoint *breakpoint, bool on);

/* Is this signal a trap that we have caused, a breakpoint or a step? The thread must never get it. */
bool step_is_ours(const siginfo_t *signal);
/* Is this signal the hit of a breakpoint of ours? */
bool step_breakpoint_is_hit(const siginfo_t *signal);

#endif
