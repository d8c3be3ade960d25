#include "linux/step/step_attach.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>

#include "base/process_owner.h"

#define MOST_LOOKS 20 /* listings of threads */

struct argus_error *step_set_places(struct stepper *stepper, struct step_tracee *tracee)
{
    if (!stepper->place)
        return NULL;
    int failed =
        step_breakpoint_set(tracee->tid, stepper->place, 0, tracee->stopped, &tracee->places[0]);
    if (failed && !tracee->stopped && failed != ESRCH && failed != ENOSPC && step_halt(tracee)) {
        failed = step_breakpoint_set(tracee->tid, stepper->place, 0, true, &tracee->places[0]);
        tracee->stopped = false;
        ptrace(PTRACE_CONT, tracee->tid, NULL, tracee->signal);
        tracee->signal = 0;
    }
    pid_t tid = tracee->tid;
    struct argus_error *error = step_note_new(stepper, tracee->made);
    if (error)
        return error;
    if (failed == ENOSPC)
        return argus_error_create(ARGUS_ERROR_BUSY,
                                  "no debug register of thread %d is free: a debugger or 'argus "
                                  "watchflag' has them all",
                                  (int)tid);
    if (failed && failed != ESRCH)
        return argus_error_os(failed, "cannot set a breakpoint in thread %d", (int)tid);
    return NULL;
}

static struct argus_error *attach(struct stepper *stepper, pid_t tid)
{
    const uintptr_t options = PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;
    struct step_tracee tracee = {.tid = tid};
    if (ptrace(PTRACE_SEIZE, tid, NULL, options) < 0)
        return step_refusal(stepper->request, tid, errno);
    if (!vec_push(&stepper->tracees, tracee)) {
        ptrace(PTRACE_DETACH, tid, NULL, NULL);
        return argus_error_memory();
    }
    return NULL;
}

/* Threads are created and end meanwhile; threads created by a tracee become tracees
 * automatically. */
static struct argus_error *attach_new(struct stepper *stepper, uint32_t *ret_found)
{
    char path[32];
    snprintf(path, sizeof(path), "/proc/%u/task", stepper->request->pid);
    DIR *tasks = opendir(path);
    struct argus_error *error = NULL;
    struct dirent *entry;
    *ret_found = 0;
    if (!tasks)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "process %u has ended",
                                  stepper->request->pid);
    while (!error && (entry = readdir(tasks))) {
        pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (tid <= 0 || step_tracee_of(stepper, tid))
            continue;
        error = attach(stepper, tid);
        bool was_made = error && error->code == ARGUS_ERROR_PERMISSION && stepper->tracees.length;
        if (error && (error->code == ARGUS_ERROR_NOT_FOUND || was_made)) {
            /* It has ended, or is a tracee already through its creator. */
            argus_error_destroy(error);
            error = NULL;
            continue;
        }
        ++*ret_found;
    }
    closedir(tasks);
    return error;
}

struct argus_error *step_attach_all(struct stepper *stepper)
{
    uint32_t found = 1;
    struct argus_error *error = NULL;
    if (stepper->request->tid)
        error = attach(stepper, (pid_t)stepper->request->tid);
    else
        for (int i = 0; i < MOST_LOOKS && found && !error; i++)
            error = attach_new(stepper, &found);
    /* Again: it could have executed a program of another user before. From now on, an exec is
     * reported. */
    return error ? error : process_check_owner("step", stepper->request->pid, stepper->uid);
}
