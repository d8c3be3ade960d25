/* Waits in Darwin's system calls and Mach traps: what the thread waits for, and how the wait
 * ended. */
#include <string.h>

#include "event/darwin/darwin.h"
#include "event/syscalls.h"
#include "graph/build/wait.h"

/* bsd/sys/errno.h, osfmk/mach/kern_return.h, osfmk/mach/message.h. */
enum {
    DARWIN_EINTR = 4,
    DARWIN_EAGAIN = 35,
    DARWIN_ETIMEDOUT = 60,
    KERN_ABORTED = 14,
    KERN_OPERATION_TIMED_OUT = 49,
    MACH_SEND_TIMED_OUT = 0x10000004,
    MACH_SEND_INTERRUPTED = 0x10000007,
    MACH_RCV_TIMED_OUT = 0x10004003,
    MACH_RCV_INTERRUPTED = 0x10004005,
};

/* The object is, for ulock_wait(), the address (second argument); for mach_msg2_trap(), in the
 * fourth argument, the local port (waiting for the reply), or else the remote port. */
uint64_t wait_darwin_object(const struct syscall_row *row, uint32_t number, const uint64_t arg[4])
{
    if (number == DARWIN_TRAP + DARWIN_MSC_MACH_MSG2)
        return arg[3] >> 32 ? arg[3] >> 32 : (uint32_t)arg[3];
    if (row->flags & SYSCALL_MESSAGES)
        return 0;
    bool by_operation = row->name && strncmp(row->name, "ulock_wait", 10) == 0;
    return by_operation ? arg[1] : arg[0];
}

/* The meaning of results: errno of BSD's calls, also negative ones, and Mach codes of traps. */
static const struct {
    int64_t result;
    bool is_trap;
    uint8_t outcome;
} endings[] = {
    {DARWIN_EINTR, false, ARGUS_OUTCOME_INTERRUPTED},
    {DARWIN_ETIMEDOUT, false, ARGUS_OUTCOME_TIMED_OUT},
    {KERN_ABORTED, true, ARGUS_OUTCOME_INTERRUPTED},
    {KERN_OPERATION_TIMED_OUT, true, ARGUS_OUTCOME_TIMED_OUT},
    {MACH_SEND_TIMED_OUT, true, ARGUS_OUTCOME_TIMED_OUT},
    {MACH_SEND_INTERRUPTED, true, ARGUS_OUTCOME_INTERRUPTED},
    {MACH_RCV_TIMED_OUT, true, ARGUS_OUTCOME_TIMED_OUT},
    {MACH_RCV_INTERRUPTED, true, ARGUS_OUTCOME_INTERRUPTED},
};

uint8_t wait_darwin_outcome(const struct argus_wait *wait, int64_t result)
{
    bool is_trap = DARWIN_IS_TRAP(wait->syscall);
    int64_t error = result < 0 && result != INT64_MIN ? -result : 0;
    if (!is_trap && !error && (int32_t)result < 0) /* ulock_wait() with ULF_NO_ERRNO */
        error = -(int64_t)(int32_t)result;
    for (size_t i = 0; error && i < sizeof(endings) / sizeof(*endings); i++)
        if (endings[i].result == error && endings[i].is_trap == is_trap)
            return wait->kind == ARGUS_WAIT_SLEEP && endings[i].outcome == ARGUS_OUTCOME_TIMED_OUT
                       ? ARGUS_OUTCOME_SATISFIED
                       : endings[i].outcome;
    /* msleep() that timed out, as for SO_RCVTIMEO: bsd/kern/kern_synch.c */
    if (!is_trap && error == DARWIN_EAGAIN && wait->outcome == ARGUS_OUTCOME_TIMED_OUT)
        return ARGUS_OUTCOME_TIMED_OUT;
    bool polled_nothing = !is_trap && wait->kind == ARGUS_WAIT_POLL && result == 0;
    return polled_nothing ? ARGUS_OUTCOME_TIMED_OUT : ARGUS_OUTCOME_SATISFIED;
}
