/* Carries out a request until a thread is stopped at the place. The stepper attaches to all threads
 * of the process (PTRACE_SEIZE stops none of them) and sets a breakpoint in each. The kernel
 * attaches it to new threads (PTRACE_O_TRACECLONE), which get a breakpoint before they run. The
 * first thread that arrives and has the requested name is kept; all others are released at once.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/process_owner.h"
#include "linux/step/step_attach.h"

#define MOST_SILENT_STEPS 100000

/* --- waiting for one to come --- */

bool step_is_wanted(const struct stepper *stepper, pid_t tid)
{
    char comm[16];
    if (!stepper->request->comm[0] || stepper->request->tid)
        return true;
    step_comm(tid, comm);
    return strcmp(comm, stepper->request->comm) == 0;
}

/* Handles a stop other than the expected one: delivers signals, sets breakpoints in new threads. */
static struct argus_error *go_on(struct stepper *stepper, struct step_tracee *tracee, int status,
                                 bool is_hit)
{
    unsigned event = step_event_of(status);
    int signal = event || is_hit ? 0 : WSTOPSIG(status);
    struct argus_error *error = NULL;
    pid_t tid = tracee->tid;
    bool is_group_stop = event == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP;
    if (event == PTRACE_EVENT_STOP && !tracee->places[0].tid)
        error = step_set_places(stepper, tracee);
    step_tracee_of(stepper, tid)->stopped = false; /* the tracees may have moved in memory */
    if (!error)
        error = step_note_new(stepper, step_new_thread(tid, status));
    unsigned request = is_group_stop ? PTRACE_LISTEN : step_request_after(tid);
    ptrace(request, tid, NULL, signal);
    return error;
}

struct argus_error *step_ended_by(const struct stepper *stepper, enum step_wait how)
{
    const struct step_request *request = stepper->request;
    if (how == STEP_WAIT_USER)
        return argus_error_create(ARGUS_ERROR_INTERRUPTED, "interrupted");
    if (how == STEP_WAIT_TIME && request->flags & STEP_FROM_ANYWHERE)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                  "thread %u did not come back to the program's own code within "
                                  "%.3g s: it waits in a library or in the kernel",
                                  request->tid ? request->tid : request->pid,
                                  (double)request->arrive_ns / 1e9);
    if (how == STEP_WAIT_TIME)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                  "no thread%s%s of process %u came to that place within %.3g s",
                                  request->comm[0] ? " " : "", request->comm, request->pid,
                                  (double)request->arrive_ns / 1e9);
    return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                              "process %u ended before a thread came to that place", request->pid);
}

static bool hit_breakpoint(pid_t tid, int status)
{
    siginfo_t signal;
    return step_event_of(status) == 0 && WSTOPSIG(status) == SIGTRAP &&
           ptrace(PTRACE_GETSIGINFO, tid, NULL, &signal) == 0 && step_breakpoint_is_hit(&signal);
}

/* A thread created during the wait: the kernel reports a stop of its creator and of the new thread,
 * in any order. */
static struct step_tracee *known(struct stepper *stepper, pid_t tid)
{
    struct step_tracee *tracee = step_tracee_of(stepper, tid);
    if (!tracee && vec_push(&stepper->tracees, (struct step_tracee){.tid = tid}))
        tracee = &stepper->tracees.data[stepper->tracees.length - 1];
    if (tracee)
        tracee->stopped = true;
    return tracee;
}

static struct argus_error *wait_for_hit(struct stepper *stepper, pid_t *ret)
{
    struct argus_error *error = NULL;
    while (!error) {
        int status;
        pid_t tid;
        enum step_wait how = step_wait_for(stepper, -1, &tid, &status);
        if (how == STEP_WAIT_ENDED) {
            step_forget(stepper, tid);
            if (stepper->tracees.length)
                continue;
        }
        if (how != STEP_WAIT_STOPPED)
            return step_ended_by(stepper, how);
        struct step_tracee *tracee = known(stepper, tid);
        if (!tracee)
            return argus_error_memory();
        if (step_event_of(status) == PTRACE_EVENT_EXEC)
            return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                      "process %u executed another program before a thread came "
                                      "to that place",
                                      stepper->request->pid);
        bool is_hit = hit_breakpoint(tid, status);
        if (is_hit && step_is_wanted(stepper, tid)) {
            *ret = tid;
            return NULL;
        }
        error = go_on(stepper, tracee, status, is_hit);
    }
    return error;
}

/* --- all together --- */

static struct argus_error *arm(struct stepper *stepper)
{
    struct argus_error *error = NULL;
    bool is_weak = false;
    for (size_t i = 0; i < stepper->tracees.length && !error; i++) {
        error = step_set_places(stepper, &stepper->tracees.data[i]);
        const struct step_tracee *tracee = &stepper->tracees.data[i];
        is_weak |= tracee->places[0].tid && tracee->places[0].fd < 0;
    }
    const struct step_item_waiting waiting = {
        .address = stepper->place, .threads = (uint32_t)stepper->tracees.length, .weak = is_weak};
    step_output_put(stepper->output, STEP_ITEM_WAITING, &waiting, sizeof(waiting), NULL, 0);
    step_output_flush(stepper->output);
    return error;
}

static struct argus_error *wait_for_thread(struct stepper *stepper, pid_t *ret)
{
    const struct step_request *request = stepper->request;
    struct argus_error *error = arm(stepper);
    *ret = 0;
    if (!error && request->flags & STEP_NEW_PROGRAM) {
        stepper->tracees.data[0].stopped = false;
        ptrace(PTRACE_CONT, stepper->tracees.data[0].tid, NULL, NULL);
    } else if (!error && request->flags & (STEP_INSIDE_AS_WELL | STEP_FROM_ANYWHERE)) {
        *ret = step_catch_inside(stepper);
    }
    if (!error && *ret < 0)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                  "the stack of thread %u has no frame of the program's own code",
                                  request->tid ? request->tid : request->pid);
    return error || *ret ? error : wait_for_hit(stepper, ret);
}

/* With the thread on the stepper's CPU, a stop wakes no other CPU, which is twice as fast. */
static void pin(struct stepper *stepper)
{
    cpu_set_t one;
    if (sched_getaffinity(stepper->tid, sizeof(stepper->old_cpus), &stepper->old_cpus) < 0)
        return;
    CPU_ZERO(&one);
    for (int cpu = CPU_SETSIZE - 1; cpu >= 0 && CPU_COUNT(&one) == 0; cpu--)
        if (CPU_ISSET(cpu, &stepper->old_cpus))
            CPU_SET(cpu, &one);
    stepper->pinned = sched_setaffinity(stepper->tid, sizeof(one), &one) == 0;
    if (stepper->pinned && sched_setaffinity(0, sizeof(one), &one) < 0)
        return; /* only slower */
}

static void say_begin(struct stepper *stepper)
{
    struct timespec now;
    struct step_item_begin begin = {
        .pid = stepper->request->pid, .tid = (uint32_t)stepper->tid, .address = stepper->place};
    clock_gettime(CLOCK_REALTIME, &now);
    begin.wall_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    step_comm(stepper->tid, begin.comm);
    step_output_put(stepper->output, STEP_ITEM_BEGIN, &begin, sizeof(begin), NULL, 0);
}

/* Writes the thread's stack from the stack pointer up, and all maps: enough to unwind it. */
static void say_stack(struct stepper *stepper)
{
    struct step_item_stack item = {.address = step_stack_pointer(stepper->registers)};
    uint8_t *stack = malloc(STEP_STACK_BYTES);
    size_t bytes =
        stack ? step_memory_read(stepper->memory_fd, item.address, stack, STEP_STACK_BYTES) : 0;
    step_output_put(stepper->output, STEP_ITEM_STACK, &item, sizeof(item), stack, bytes);
    free(stack);
}

/* These steps are not reported: a few dozen from a system call to the caller of the library. */
static struct argus_error *come_out(struct stepper *stepper)
{
    if (!(stepper->request->flags & STEP_OUT_OF_LIBRARY))
        return NULL;
    for (uint32_t i = 0; i < MOST_SILENT_STEPS; i++) {
        if (step_is_stepped(stepper, step_pc(stepper->registers)))
            return NULL;
        if (!step_one(stepper))
            return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                      "the thread did not come out of the library: %s",
                                      stepper->end_text);
    }
    return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                              "the thread did not come out of the library within %d instructions",
                              MOST_SILENT_STEPS);
}

static struct argus_error *begin(struct stepper *stepper, pid_t tid)
{
    stepper->tid = tid;
    step_release_others(stepper, tid);
    struct step_tracee *tracee = step_tracee_of(stepper, tid);
    for (int i = 0; i < STEP_START_PLACES; i++)
        step_breakpoint_clear(&tracee->places[i]);
    ptrace(PTRACE_SETOPTIONS, tid, NULL, PTRACE_O_TRACEEXEC);
    int status;
    if (!step_settle(stepper, &status) || !step_registers_read(tid, stepper->registers))
        return step_ended_by(stepper, STEP_WAIT_ENDED);
    if (!step_maps_read(&stepper->maps))
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "process %u has ended",
                                  stepper->request->pid);
    step_maps_resolve(&stepper->maps, &stepper->request->wait, &stepper->wait);
    pin(stepper);
    say_begin(stepper);
    step_maps_put(&stepper->maps, stepper->output);
    struct argus_error *error = come_out(stepper);
    if (!error)
        say_stack(stepper);
    return error;
}

static struct argus_error *open_memory(struct stepper *stepper)
{
    char path[32];
    snprintf(path, sizeof(path), "/proc/%u/mem", stepper->request->pid);
    stepper->memory_fd = open(path, O_RDWR | O_CLOEXEC);
    if (stepper->memory_fd >= 0)
        return NULL;
    return step_refusal(stepper->request, (pid_t)stepper->request->pid, errno);
}

struct argus_error *step_arrive(struct stepper *stepper)
{
    const struct step_request *request = stepper->request;
    pid_t tid = 0;
    struct argus_error *error = step_check_process(request);
    if (!error)
        error = process_check_owner("step", request->pid, stepper->uid);
    if (request->arrive_ns)
        stepper->deadline_ns = step_now_ns() + request->arrive_ns;
    if (!error)
        error = step_attach_all(stepper);
    if (!error)
        error = open_memory(stepper);
    if (!error)
        error = request->flags & STEP_NEW_PROGRAM ? step_wait_for_program(stepper)
                                                  : step_resolve(stepper);
    if (!error)
        error = wait_for_thread(stepper, &tid);
    if (!error)
        error = begin(stepper, tid);
    if (error)
        step_leave(stepper);
    return error;
}
