/* System calls by number: their names, what a wait inside one waits for, and what they may do to others.
 * The tables syscalls_<architecture>.def are made by syscalls_generate.py, which says how to change them. */
#ifndef ARGUS_EVENT_SYSCALLS_H
#define ARGUS_EVENT_SYSCALLS_H

#include "argus/event.h"

enum syscall_flags {
    SYSCALL_FD = 1,   /* the first argument is a file descriptor */
    SYSCALL_SEND = 2, /* sends data or the end of it: wakes readers */
    SYSCALL_KILL = 4, /* sends a signal */
    SYSCALL_EXIT = 8,
    SYSCALL_YIELD = 16,
    SYSCALL_RESTART = 1024, /* goes on with the call that a signal interrupted */
    SYSCALL_CLOSE = 2048,   /* the file is gone, and locks on it */
    /* Darwin's: */
    SYSCALL_KERN_RETURN = 32, /* a Mach trap whose result is a kern_return_t */
    SYSCALL_EVENTS = 64,      /* Mach messages may come with what it returns */
    SYSCALL_SIGNALS = 128,    /* wakes who waits for a condition, a semaphore */
    SYSCALL_PARKS = 256,      /* a worker without work waits in it */
    SYSCALL_MESSAGES = 512, /* mach_msg(): its second argument says whether it sends or receives */
};

struct syscall_row {
    const char *name; /* static; NULL: no such system call */
    uint8_t wait;     /* enum argus_wait_kind */
    uint16_t flags;   /* enum syscall_flags */
};

/* The row of `number`; a row without name and of kind OTHER when it is unknown. Never NULL. */
const struct syscall_row *syscall_row(enum argus_os os, enum argus_arch arch, uint32_t number);

/* What a wait inside mach_msg() with these options is for: the answer to what it sends (READ), whatever may come (POLL), room at
 * the receiver's (WRITE). */
enum argus_wait_kind syscall_message_wait(uint64_t options);

/* Whether a poll or select with these arguments has no descriptor to wait for, and so only sleeps. */
bool syscall_polls_nothing(const struct syscall_row *row, const uint64_t arg[4]);

#endif
