/* Releases threads without leaving any trace of the stepper in them. */
#include "linux/step/step_attach.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

struct step_tracee *step_tracee_of(struct stepper *stepper, pid_t tid)
{
    for (size_t i = 0; i < stepper->tracees.length; i++)
        if (stepper->tracees.data[i].tid == tid)
            return &stepper->tracees.data[i];
    return NULL;
}

void step_forget(struct stepper *stepper, pid_t tid)
{
    struct step_tracee *tracee = step_tracee_of(stepper, tid);
    if (!tracee)
        return;
    for (int i = 0; i < STEP_START_PLACES; i++)
        step_breakpoint_clear(&tracee->places[i]);
    *tracee = stepper->tracees.data[--stepper->tracees.length];
}

pid_t step_new_thread(pid_t maker, int status)
{
    unsigned long tid = 0;
    if (step_event_of(status) != PTRACE_EVENT_CLONE ||
        ptrace(PTRACE_GETEVENTMSG, maker, NULL, &tid) < 0)
        return 0;
    return (pid_t)tid;
}

struct argus_error *step_note_new(struct stepper *stepper, pid_t tid)
{
    if (!tid || step_tracee_of(stepper, tid) ||
        vec_push(&stepper->tracees, (struct step_tracee){.tid = tid}))
        return NULL;
    return argus_error_memory();
}

bool step_halt(struct step_tracee *tracee)
{
    int status;
    if (tracee->stopped)
        return true;
    if (ptrace(PTRACE_INTERRUPT, tracee->tid, NULL, NULL) < 0)
        return false;
    while (waitpid(tracee->tid, &status, __WALL) < 0)
        if (errno != EINTR)
            return false;
    if (!WIFSTOPPED(status))
        return false;
    tracee->stopped = true;
    tracee->made = step_new_thread(tracee->tid, status);
    siginfo_t signal = {0};
    bool is_signal = step_event_of(status) == 0;
    if (is_signal && ptrace(PTRACE_GETSIGINFO, tracee->tid, NULL, &signal) == 0 &&
        !step_is_ours(&signal))
        tracee->signal = WSTOPSIG(status);
    return true;
}

/* A pending hit would kill the process once ptrace no longer intercepts it. */
static bool has_hit_pending(pid_t tid)
{
    struct __ptrace_peeksiginfo_args wanted = {.nr = 8};
    siginfo_t signals[8];
    long count = ptrace(PTRACE_PEEKSIGINFO, tid, &wanted, signals);
    for (long i = 0; i < count; i++)
        if (step_is_ours(&signals[i]))
            return true;
    return false;
}

static void drop_pending_hit(struct step_tracee *tracee)
{
    int status;
    siginfo_t signal;
    if (!has_hit_pending(tracee->tid) || ptrace(PTRACE_CONT, tracee->tid, NULL, tracee->signal) < 0)
        return;
    tracee->signal = 0;
    while (waitpid(tracee->tid, &status, __WALL) < 0 && errno == EINTR)
        ;
    pid_t made = WIFSTOPPED(status) ? step_new_thread(tracee->tid, status) : 0;
    tracee->made = made ? made : tracee->made;
    if (WIFSTOPPED(status) && step_event_of(status) == 0 &&
        ptrace(PTRACE_GETSIGINFO, tracee->tid, NULL, &signal) == 0 && !step_is_ours(&signal))
        tracee->signal = WSTOPSIG(status);
}

void step_release(struct step_tracee *tracee)
{
    bool is_there = step_halt(tracee);
    for (int i = 0; i < STEP_START_PLACES; i++)
        step_breakpoint_clear(&tracee->places[i]);
    if (!is_there)
        return;
    drop_pending_hit(tracee);
    ptrace(PTRACE_DETACH, tracee->tid, NULL, tracee->signal);
}

void step_release_others(struct stepper *stepper, pid_t kept)
{
    for (size_t i = 0; i < stepper->tracees.length; i++) {
        struct step_tracee *tracee = &stepper->tracees.data[i];
        if (tracee->tid != kept)
            step_release(tracee);
        /* It is released later in this loop. */
        argus_error_destroy(step_note_new(stepper, tracee->made));
    }
    struct step_tracee *tracee = step_tracee_of(stepper, kept);
    if (tracee)
        stepper->tracees.data[0] = *tracee;
    stepper->tracees.length = tracee ? 1 : 0;
}

void step_leave(struct stepper *stepper)
{
    struct step_tracee *tracee = step_tracee_of(stepper, stepper->tid);
    int status;
    /* On failure it has ended, or continues without breakpoints. */
    if (tracee && step_halt(tracee))
        step_settle(stepper, &status);
    for (int i = 0; i < STEP_RETURN_PLACES; i++)
        step_breakpoint_clear(&stepper->returns[i]);
    step_breakpoint_clear(&stepper->way_out);
    step_breakpoint_clear(&stepper->over_watch);
    if (stepper->pinned)
        sched_setaffinity(stepper->tid, sizeof(stepper->old_cpus), &stepper->old_cpus);
    step_release_others(stepper, 0);
}
