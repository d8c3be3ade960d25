/* System calls by number: their names, what a wait inside a call is for, and how a call may affect
 * other threads. The tables syscalls_<architecture>.def are made by syscalls_generate.py, which
 * says how to change them. */
#ifndef ARGUS_EVENT_SYSCALLS_H
#define ARGUS_EVENT_SYSCALLS_H

#include "argus/event.h"

enum syscall_flags {
    SYSCALL_FD = 1,   /* the first argument is a file descriptor */
    SYSCALL_SEND = 2, /* sends data or an end of file: wakes readers */
    SYSCALL_KILL = 4, /* sends a signal */
    SYSCALL_EXIT = 8,
    SYSCALL_YIELD = 16,
    SYSCALL_RESTART = 1024, /* continues the call that a signal interrupted */
    SYSCALL_CLOSE = 2048,   /* closes the file and releases its locks */
    SYSCALL_CHANGE = 4096,  /* changes the file, or waits until its changes are on the disk */
    SYSCALL_IPC = 8192,     /* uses a set of semaphores or a message queue of System V (Linux's) */
    /* Darwin's: */
    SYSCALL_KERN_RETURN = 32, /* a Mach trap whose result is a kern_return_t */
    SYSCALL_EVENTS = 64,      /* its results may include Mach messages */
    SYSCALL_SIGNALS = 128,    /* wakes threads that wait for a condition or semaphore */
    SYSCALL_PARKS = 256,      /* a worker thread waits in it when it has no work */
    SYSCALL_MESSAGES = 512, /* mach_msg(): its second argument tells whether it sends or receives */
};

struct syscall_row {
    const char *name; /* static; NULL: no such system call */
    uint8_t wait;     /* enum argus_wait_kind */
    uint16_t flags;   /* enum syscall_flags */
};

/* The row of `number`. If the number is unknown, a row without a name and with kind OTHER. Never
 * NULL. */
const struct syscall_row *syscall_row(enum argus_os os, enum argus_arch arch, uint32_t number);

/* What a wait inside mach_msg() with these options is for: the reply to what it sends (READ), any
 * message (POLL), room at the receiver (WRITE). */
enum argus_wait_kind syscall_message_wait(uint64_t options);

/* Whether a poll or select with these arguments has no descriptors, so that it only sleeps. */
bool syscall_polls_nothing(const struct syscall_row *row, const uint64_t arg[4]);

#endif
