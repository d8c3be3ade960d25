/* Getting hold of the thread that is to be stepped: what step_arrive.c puts together. */
#ifndef ARGUS_RECORDER_LINUX_STEP_ATTACH_H
#define ARGUS_RECORDER_LINUX_STEP_ATTACH_H

#include "linux/stepper.h"

/* step_check.c: is there such a process, is it free, is it one that we can step? */
struct argus_error *step_check_process(const struct step_request *request);
struct argus_error *step_check_program(uint32_t pid);
/* Why ptrace() said no. */
struct argus_error *step_refusal(const struct step_request *request, pid_t tid, int failed);
/* The name of a thread. */
void step_comm(pid_t tid, char ret[16]);

/* step_attach.c: all threads of the process, or the one. */
struct argus_error *step_attach_all(struct stepper *stepper);
/* Gives a thread its breakpoint at the place. May move the tracees. */
struct argus_error *step_set_places(struct stepper *stepper, struct step_tracee *tracee);

/* step_release.c */
/* The thread that `maker` says to have made in this stop, 0: none. */
pid_t step_new_thread(pid_t maker, int status);
/* The kernel has attached us to it: it waits for us before its first instruction, and is to be let go like all others. Moves the
 * tracees. */
struct argus_error *step_note_new(struct stepper *stepper, pid_t tid);
void step_forget(struct stepper *stepper, pid_t tid);
void step_release_others(struct stepper *stepper, pid_t kept);

/* step_inside.c: the address of the place; in a program that has just begun, when its file is mapped. */
struct argus_error *step_resolve(struct stepper *stepper);
struct argus_error *step_wait_for_program(struct stepper *stepper);
/* Gives threads that are in the function (or anywhere in the application) a breakpoint where they come back to it. Returns one that is
 * in its very code, stopped; 0: none; -1: there is no such code on the stack of the thread that is meant. */
pid_t step_catch_inside(struct stepper *stepper);

/* step_arrive.c: the error for a wait that did not end with a stop. */
struct argus_error *step_ended_by(const struct stepper *stepper, enum step_wait how);
bool step_is_wanted(const struct stepper *stepper, pid_t tid);

#endif
