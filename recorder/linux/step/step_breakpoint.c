/* Two ways lead to the processor's debug registers.
 *
 * perf_event_open() with `sigtrap` (Linux 5.13): a hit is a SIGTRAP, which ptrace intercepts before
 * the thread gets it. The register is freed when the descriptor is closed, also if the stepper is
 * killed: the thread continues unaffected. So this is the first choice.
 *
 * PTRACE_POKEUSER (x86) works where perf_event may not be used (perf_event_paranoid 3 and above).
 * The register stays set if the stepper is killed by SIGKILL, and the next hit would then kill the
 * process. So it is the second choice, and the front end warns about it.
 *
 * int3 is not used: other threads execute the same code while it is inserted and removed, and it
 * would also stay after SIGKILL.
 */
#include "linux/step/step_breakpoint.h"

#include <errno.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <unistd.h>

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>

#define COOKIE 0x4152475553ull /* "ARGUS": in the signal's data */

#ifndef TRAP_PERF
#define TRAP_PERF 6
#endif

/* `type`: HW_BREAKPOINT_X, or _W for 8 bytes of data. */
static int open_event(pid_t tid, uint64_t address, uint32_t type)
{
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_BREAKPOINT,
        .size = sizeof(attributes),
        .bp_type = type,
        .bp_addr = address,
#if defined(__aarch64__)
        .bp_len = type == HW_BREAKPOINT_X ? 4 : 8,
#else
        .bp_len = sizeof(long),
#endif
        .sample_period = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .sigtrap = 1,
        .remove_on_exec = 1,
        .sig_data = COOKIE,
    };
    return (int)syscall(SYS_perf_event_open, &attributes, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

#if defined(__x86_64__)

static int poke(pid_t tid, int number, unsigned long value)
{
    size_t offset = offsetof(struct user, u_debugreg) +
                    (size_t)number * sizeof(((struct user *)0)->u_debugreg[0]);
    return ptrace(PTRACE_POKEUSER, tid, offset, value) < 0 ? errno : 0;
}

static unsigned long control(pid_t tid)
{
    errno = 0;
    long value = ptrace(PTRACE_PEEKUSER, tid, offsetof(struct user, u_debugreg[7]), NULL);
    return errno ? 0 : (unsigned long)value;
}

/* Type 0 and length 0 in the control register are "execute" and one byte. */
static int poke_set(pid_t tid, uint64_t address, int slot)
{
    int failed = poke(tid, slot, address);
    return failed ? failed : poke(tid, 7, control(tid) | 1ul << (2 * slot));
}

static void poke_clear(pid_t tid, int slot)
{
    poke(tid, 7, control(tid) & ~(1ul << (2 * slot)));
}

#else

static int poke_set(pid_t tid, uint64_t address, int slot)
{
    (void)tid, (void)address, (void)slot;
    return EOPNOTSUPP;
}

static void poke_clear(pid_t tid, int slot)
{
    (void)tid, (void)slot;
}

#endif

bool step_breakpoint_is_safe(pid_t tid, uint64_t address)
{
    int fd = open_event(tid, address, HW_BREAKPOINT_X);
    if (fd >= 0)
        close(fd);
    return fd >= 0 || errno == ENOSPC;
}

int step_breakpoint_set(pid_t tid, uint64_t address, int slot, bool stopped,
                        struct step_breakpoint *ret)
{
    *ret = (struct step_breakpoint){.tid = tid, .address = address, .slot = slot};
    ret->fd = open_event(tid, address, HW_BREAKPOINT_X);
    if (ret->fd >= 0)
        return 0;
    int failed = errno;
    if (stopped && failed != ESRCH && failed != ENOSPC)
        failed = poke_set(tid, address, slot);
    if (failed)
        ret->tid = 0;
    return failed;
}

int step_breakpoint_watch(pid_t tid, uint64_t address, struct step_breakpoint *ret)
{
    *ret = (struct step_breakpoint){.tid = tid, .address = address, .slot = -1};
    ret->fd = open_event(tid, address, HW_BREAKPOINT_W);
    if (ret->fd >= 0)
        return 0;
    ret->tid = 0;
    return errno;
}

void step_breakpoint_clear(struct step_breakpoint *breakpoint)
{
    if (!breakpoint->tid)
        return;
    if (breakpoint->fd >= 0)
        close(breakpoint->fd);
    else
        poke_clear(breakpoint->tid, breakpoint->slot);
    breakpoint->tid = 0;
}

void step_breakpoint_enable(struct step_breakpoint *breakpoint, bool on)
{
    if (breakpoint->fd >= 0)
        ioctl(breakpoint->fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
    else if (on)
        poke_set(breakpoint->tid, breakpoint->address, breakpoint->slot);
    else
        poke_clear(breakpoint->tid, breakpoint->slot);
}

#if defined(__x86_64__)
#define TRAP_OF_SYSCALL TRAP_BRKPT /* a step over a system call; int3 has SI_KERNEL */
#else
#define TRAP_OF_SYSCALL TRAP_TRACE
#endif

bool step_is_ours(const siginfo_t *signal)
{
    return signal->si_signo == SIGTRAP &&
           (signal->si_code == TRAP_PERF || signal->si_code == TRAP_HWBKPT ||
            signal->si_code == TRAP_TRACE || signal->si_code == TRAP_OF_SYSCALL);
}

bool step_breakpoint_is_hit(const siginfo_t *signal)
{
    return signal->si_signo == SIGTRAP &&
           (signal->si_code == TRAP_PERF || signal->si_code == TRAP_HWBKPT);
}
