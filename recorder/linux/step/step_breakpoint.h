/* A breakpoint for one thread, in a debug register of the processor: the code stays as it is, and
 * other threads do not see it. */
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

/* Whether kernel and permissions allow breakpoints that leave nothing behind (see
 * step_breakpoint.c). */
bool step_breakpoint_is_safe(pid_t tid, uint64_t address);

/* 0, or an errno; ENOSPC: all registers are taken. `stopped` false: the thread runs, and only the
 * safe way is tried. */
int step_breakpoint_set(pid_t tid, uint64_t address, int slot, bool stopped,
                        struct step_breakpoint *ret);
/* Stops the thread when it writes to the 8 bytes at `address`; only the safe way is tried. 0, or an
 * errno. */
int step_breakpoint_watch(pid_t tid, uint64_t address, struct step_breakpoint *ret);
/* The thread is stopped, or has ended. */
void step_breakpoint_clear(struct step_breakpoint *breakpoint);

/* Disables or enables a breakpoint without removing it; the thread is stopped. */
void step_breakpoint_enable(struct step_breakpoint *breakpoint, bool on);

/* Whether the stepper caused this trap (breakpoint or step). The thread must never receive such a
 * signal. */
bool step_is_ours(const siginfo_t *signal);
/* Whether this signal is a hit of one of these breakpoints. */
bool step_breakpoint_is_hit(const siginfo_t *signal);

#endif
