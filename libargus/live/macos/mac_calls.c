/* The system call of a thread tells what it waits for, as in live_wait.c: a row for each call that
 * can wait long. The arguments are those of xnu-11417 bsd/kern/syscalls.master and
 * osfmk/mach/mach_traps.h. */
#include <string.h>

#include "event/darwin/darwin.h"
#include "event/syscalls.h"
#include "live/live_calls.h"
#include "live/macos/mac_state.h"

enum {
    /* of fcntl(): waits for a lock (xnu bsd/sys/fcntl.h) */
    MAC_F_SETLKW = 9,
    MAC_F_SETLKWTIMEOUT = 10,
    MAC_F_OFD_SETLKW = 91,
    MAC_F_OFD_SETLKWTIMEOUT = 93,
    MAC_P_PID = 1, /* of waitid() (xnu bsd/sys/wait.h) */
};

static void in_kevent(const struct live_call *call)
{
    call->wait->has_timeout = call->of->arg[5] != 0;
    mac_wait_in_kevent(call->live, call->thread, call->wait);
}

/* The time-out is the seventh argument. */
static void in_kevent64(const struct live_call *call)
{
    call->wait->has_timeout = mac_known(call->live, call->thread)->more[0] != 0;
    mac_wait_in_kevent(call->live, call->thread, call->wait);
}

static void in_kevent_qos(const struct live_call *call)
{
    mac_wait_in_kevent(call->live, call->thread, call->wait);
}

/* ulock_wait(operation, address, value, microseconds); ulock_wait2() has nanoseconds there. */
static void in_ulock(const struct live_call *call)
{
    call->wait->has_timeout = call->of->arg[3] != 0;
    mac_wait_in_ulock(call->live, call->thread, call->wait);
}

static void in_mutex(const struct live_call *call)
{
    call->wait->kind = ARGUS_LIVE_MUTEX;
    call->wait->object = call->of->arg[0];
}

static void in_rwlock(const struct live_call *call)
{
    call->wait->kind = ARGUS_LIVE_RWLOCK;
    call->wait->object = call->of->arg[0];
}

/* psynch_cvwait(condition, sequences, sequences, mutex, sequences, flags, seconds, nanoseconds). */
static void in_condition(const struct live_call *call)
{
    const struct mac_known *known = mac_known(call->live, call->thread);
    call->wait->kind = ARGUS_LIVE_CONDITION;
    call->wait->object = call->of->arg[0];
    call->wait->has_timeout = known->more[0] || (uint32_t)known->more[1];
}

static void in_semaphore(const struct live_call *call)
{
    call->wait->kind = ARGUS_LIVE_SEMAPHORE;
}

static void in_timed_semaphore(const struct live_call *call)
{
    call->wait->kind = ARGUS_LIVE_SEMAPHORE;
    call->wait->has_timeout = true;
}

/* __semwait_signal(semaphore, mutex, has a time-out, …): sleep() and nanosleep() are waits for a
 * semaphore that nobody signals (Libc gen/nanosleep.c). */
static void in_semwait(const struct live_call *call)
{
    call->wait->has_timeout = (int32_t)call->of->arg[2] != 0;
    call->wait->kind = call->wait->has_timeout ? ARGUS_LIVE_SLEEP : ARGUS_LIVE_SEMAPHORE;
}

static void in_waitid(const struct live_call *call)
{
    call->wait->kind = ARGUS_LIVE_CHILD;
    if ((uint32_t)call->of->arg[0] == MAC_P_PID)
        call->wait->object = (uint32_t)call->of->arg[1];
}

static void in_vfork(const struct live_call *call)
{
    call->wait->kind = ARGUS_LIVE_CHILD;
}

static void in_fcntl(const struct live_call *call)
{
    uint32_t command = (uint32_t)call->of->arg[1]; /* an int: the upper half may be anything */
    call->wait->has_timeout = command == MAC_F_SETLKWTIMEOUT || command == MAC_F_OFD_SETLKWTIMEOUT;
    if (command == MAC_F_SETLKW || command == MAC_F_OFD_SETLKW || call->wait->has_timeout)
        live_in_flock(call);
}

static void in_message(const struct live_call *call)
{
    mac_wait_in_message(call->live, call->thread, call->wait);
}

static void in_work(const struct live_call *call)
{
    call->wait->kind = ARGUS_LIVE_WORKER;
}

/* To add a call: a row. A name stands for the call that is no point of cancellation as well
 * ("read_nocancel"). */
static const struct {
    const char *name;
    live_read_call *read;
} calls[] = {
    {"read", live_in_read},
    {"readv", live_in_read},
    {"pread", live_in_read},
    {"preadv", live_in_read},
    {"recvfrom", live_in_read},
    {"recvmsg", live_in_read},
    {"recvmsg_x", live_in_read},
    {"accept", live_in_read},
    {"ioctl", live_in_read},
    {"getdirentries64", live_in_read},
    {"write", live_in_write},
    {"writev", live_in_write},
    {"pwrite", live_in_write},
    {"pwritev", live_in_write},
    {"sendto", live_in_write},
    {"sendmsg", live_in_write},
    {"sendmsg_x", live_in_write},
    {"connect", live_in_write},
    {"fsync", live_in_write},
    {"poll", live_in_poll},
    {"select", live_in_select},
    {"pselect", live_in_select},
    {"kevent", in_kevent},
    {"kevent64", in_kevent64},
    {"kevent_qos", in_kevent_qos},
    {"kevent_id", in_kevent_qos},
    {"ulock_wait", in_ulock},
    {"ulock_wait2", in_ulock},
    {"psynch_mutexwait", in_mutex},
    {"psynch_rw_rdlock", in_rwlock},
    {"psynch_rw_longrdlock", in_rwlock},
    {"psynch_rw_wrlock", in_rwlock},
    {"psynch_rw_yieldwrlock", in_rwlock},
    {"psynch_cvwait", in_condition},
    {"sem_wait", in_semaphore},
    {"semaphore_wait_trap", in_semaphore},
    {"semaphore_wait_signal_trap", in_semaphore},
    {"semaphore_timedwait_trap", in_timed_semaphore},
    {"semaphore_timedwait_signal_trap", in_timed_semaphore},
    {"__semwait_signal", in_semwait},
    {"mach_wait_until_trap", live_in_sleep},
    {"clock_sleep_trap", live_in_sleep},
    {"sigsuspend", live_in_signal},
    {"__sigwait", live_in_signal},
    {"wait4", live_in_wait4},
    {"waitid", in_waitid},
    {"vfork", in_vfork},
    {"flock", live_in_flock},
    {"fcntl", in_fcntl},
    {"mach_msg_trap", in_message},
    {"mach_msg_overwrite_trap", in_message},
    {"mach_msg2_trap", in_message},
    {"workq_kernreturn", in_work},
};

const char *argus_live_call_name(const struct argus_live_thread *thread)
{
    return thread->has_call ? syscall_row(ARGUS_OS_DARWIN, 0, thread->call)->name : NULL;
}

static bool is_call(const char *name, const char *row)
{
    static const char suffix[] = "_nocancel";
    size_t length = strlen(row);
    return strncmp(name, row, length) == 0 && (!name[length] || strcmp(name + length, suffix) == 0);
}

static void by_call(struct argus_live *live, uint32_t thread, struct argus_live_wait *wait)
{
    const struct argus_live_thread of = live->threads.data[thread];
    const struct live_call call = {live, &of, thread, wait};
    const char *name = argus_live_call_name(&of);
    for (size_t i = 0; name && i < sizeof(calls) / sizeof(calls[0]); i++)
        if (is_call(name, calls[i].name)) {
            calls[i].read(&call);
            return;
        }
}

/* What the state of the process and the thread tells alone; OTHER: nothing. A process in a debugger
 * that asks about it is stopped by that. */
static enum argus_live_kind kind_by_state(const struct argus_live *live, uint32_t thread)
{
    const struct argus_live_thread *of = &live->threads.data[thread];
    const struct argus_live_process *process = &live->processes.data[of->process];
    struct mac_process now;
    bool is_debugged = process->pid == live->debugged_pid;
    if (!mac_process(process->pid, &now) || now.status == MAC_ZOMBIE)
        return ARGUS_LIVE_ZOMBIE;
    if (is_debugged && now.flags & MAC_TRACED)
        return of->has_call ? ARGUS_LIVE_OTHER : ARGUS_LIVE_RUNS;
    bool is_suspended = mac_known(live, thread)->suspends || mac_task_suspends(process->pid);
    if (now.flags & MAC_TRACED && (now.status == MAC_STOPPED || is_suspended))
        return ARGUS_LIVE_TRACED;
    if (now.status == MAC_STOPPED)
        return ARGUS_LIVE_STOPPED;
    if (is_suspended || of->state == 'T')
        return ARGUS_LIVE_SUSPENDED;
    return of->state == 'R' ? ARGUS_LIVE_RUNS : ARGUS_LIVE_OTHER;
}

struct argus_live_wait live_wait(struct argus_live *live, uint32_t thread)
{
    const struct argus_live_thread of = live->threads.data[thread];
    struct argus_live_wait wait = {.kind = kind_by_state(live, thread), .fd = ARGUS_LIVE_NONE};
    if (wait.kind != ARGUS_LIVE_OTHER)
        return wait;
    if (live->processes.data[of.process].denied || of.state == '?') {
        wait.kind = ARGUS_LIVE_UNREADABLE;
        return wait;
    }
    by_call(live, thread, &wait);
    if (wait.kind == ARGUS_LIVE_OTHER && of.state == 'D')
        wait.kind = ARGUS_LIVE_DISK;
    return wait;
}
