/* Finds the address of the place in the process, and threads that are already inside its
 * function. */
#include "linux/step/step_attach.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* The program of a process that has just begun: the place may be in a library, which its dynamic
 * linker still has to map. */
static struct argus_error *run_until_mapped(struct stepper *stepper)
{
    pid_t tid = (pid_t)stepper->request->pid, got;
    struct step_tracee *tracee = step_tracee_of(stepper, tid);
    int status;
    for (;;) {
        if (step_maps_read(&stepper->maps) &&
            step_maps_resolve(&stepper->maps, &stepper->request->place, &stepper->place))
            return NULL;
        ptrace(PTRACE_SYSCALL, tid, NULL, tracee->signal);
        enum step_wait how = step_wait_for(stepper, tid, &got, &status);
        if (how == STEP_WAIT_ENDED)
            step_forget(stepper, tid);
        if (how != STEP_WAIT_STOPPED) {
            tracee->stopped = false;
            return argus_error_context(step_ended_by(stepper, how), "%s was never mapped",
                                       stepper->request->place.path);
        }
        bool is_syscall = step_event_of(status) || WSTOPSIG(status) == (SIGTRAP | 0x80);
        tracee->signal = is_syscall ? 0 : WSTOPSIG(status);
    }
}

struct argus_error *step_wait_for_program(struct stepper *stepper)
{
    pid_t tid = (pid_t)stepper->request->pid, got;
    struct step_tracee *tracee = step_tracee_of(stepper, tid);
    int status;
    const struct step_item_waiting waiting = {.threads = 1};
    step_output_put(stepper->output, STEP_ITEM_WAITING, &waiting, sizeof(waiting), NULL, 0);
    step_output_flush(stepper->output);
    for (;;) {
        enum step_wait how = step_wait_for(stepper, tid, &got, &status);
        if (how == STEP_WAIT_ENDED)
            step_forget(stepper, tid);
        if (how != STEP_WAIT_STOPPED)
            return step_ended_by(stepper, how);
        tracee->stopped = true;
        if (step_event_of(status) == PTRACE_EVENT_EXEC)
            break;
        ptrace(PTRACE_CONT, tid, NULL, step_event_of(status) ? 0 : WSTOPSIG(status));
        tracee->stopped = false;
    }
    /* exec has replaced the memory, and perhaps the credentials. */
    char path[32];
    snprintf(path, sizeof(path), "/proc/%u/mem", stepper->request->pid);
    close(stepper->memory_fd);
    stepper->memory_fd = open(path, O_RDWR | O_CLOEXEC);
    struct argus_error *error = step_check_program(stepper->request->pid);
    if (error)
        return error;
    ptrace(PTRACE_SETOPTIONS, tid, NULL,
           PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD);
    return run_until_mapped(stepper);
}

struct argus_error *step_resolve(struct stepper *stepper)
{
    const struct step_request *request = stepper->request;
    if (!step_maps_read(&stepper->maps))
        return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                                  "process %u has no memory of its own: it is part of the kernel, "
                                  "or has ended",
                                  request->pid);
    if (request->flags & STEP_FROM_ANYWHERE ||
        step_maps_resolve(&stepper->maps, &request->place, &stepper->place))
        return NULL;
    if (!request->place.path[0])
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "process %u has no code at address 0x%llx",
                                  request->pid, (unsigned long long)request->place.offset);
    return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                              "process %u has no code of %s mapped at offset 0x%llx", request->pid,
                              request->place.path, (unsigned long long)request->place.offset);
}

/* Sets a breakpoint at the return address if the thread is inside the function (or anywhere in the
 * application). Leaves it stopped or running as it was. *ret_is_there: it executes the code itself,
 * and is left stopped. */
static void catch_inside(struct stepper *stepper, struct step_tracee *tracee, uint64_t start,
                         uint64_t end, bool *ret_is_there)
{
    uint64_t registers[STEP_REGISTERS_MOST];
    *ret_is_there = false;
    bool was_stopped = tracee->stopped;
    if (!step_halt(tracee) || !step_registers_read(tracee->tid, registers))
        return;
    uint64_t pc = step_pc(registers);
    if (pc >= start && pc < end && step_is_stepped(stepper, pc)) {
        *ret_is_there = true;
        return;
    }
    uint64_t caller = step_find_caller(stepper, registers, start, end);
    if (caller)
        step_breakpoint_set(tracee->tid, caller, 1, true, &tracee->places[1]);
    if (was_stopped)
        return;
    tracee->stopped = false;
    ptrace(PTRACE_CONT, tracee->tid, NULL, tracee->signal);
    tracee->signal = 0;
}

pid_t step_catch_inside(struct stepper *stepper)
{
    bool anywhere = stepper->request->flags & STEP_FROM_ANYWHERE;
    uint64_t bytes = stepper->request->place.function_bytes;
    uint64_t start = anywhere ? 0 : stepper->place;
    uint64_t end = anywhere ? UINT64_MAX : stepper->place + bytes;
    for (size_t i = 0; i < stepper->tracees.length; i++) {
        struct step_tracee *tracee = &stepper->tracees.data[i];
        bool is_there;
        if (!step_is_wanted(stepper, tracee->tid))
            continue;
        catch_inside(stepper, tracee, start, end, &is_there);
        if (is_there)
            return tracee->tid;
        if (anywhere && !tracee->places[1].tid)
            return -1;
    }
    return 0;
}
