/* Attaching to the thread that is to be stepped: functions that step_arrive.c combines. */
#ifndef ARGUS_RECORDER_LINUX_STEP_ATTACH_H
#define ARGUS_RECORDER_LINUX_STEP_ATTACH_H

#include "linux/step/stepper.h"

/* step_check.c: whether the process exists, is not traced already, and can be stepped */
struct argus_error *step_check_process(const struct step_request *request);
struct argus_error *step_check_program(uint32_t pid);
/* The error for a failed ptrace(). */
struct argus_error *step_refusal(const struct step_request *request, pid_t tid, int failed);
/* The name of a thread. */
void step_comm(pid_t tid, char ret[16]);

/* step_attach.c: attaches to all threads of the process, or to the requested one. */
struct argus_error *step_attach_all(struct stepper *stepper);
/* Sets a thread's breakpoint at the place. May move the tracees in memory. */
struct argus_error *step_set_places(struct stepper *stepper, struct step_tracee *tracee);

/* step_release.c */
/* The thread that `maker` has created according to this stop; 0: none. */
pid_t step_new_thread(pid_t maker, int status);
/* Adds a new thread that the kernel has attached to this process: it is stopped before its first
 * instruction, and must be released like all others. Moves the tracees in memory. */
struct argus_error *step_note_new(struct stepper *stepper, pid_t tid);
void step_forget(struct stepper *stepper, pid_t tid);
void step_release_others(struct stepper *stepper, pid_t kept);

/* step_inside.c: the address of the place; in a program that has just begun, when its file is
 * mapped. */
struct argus_error *step_resolve(struct stepper *stepper);
struct argus_error *step_wait_for_program(struct stepper *stepper);
/* Sets a breakpoint at the return address in each thread that is inside the function (or anywhere
 * in the application). Returns a thread that executes its code right now, stopped; 0: none; -1: the
 * requested thread has no such code on its stack. */
pid_t step_catch_inside(struct stepper *stepper);

/* step_arrive.c: the error for a wait that did not end with a stop. */
struct argus_error *step_ended_by(const struct stepper *stepper, enum step_wait how);
bool step_is_wanted(const struct stepper *stepper, pid_t tid);

#endif
