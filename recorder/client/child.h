/* The program that `argus record` runs: forked before the recording begins, started after it has
 * begun. */
#ifndef ARGUS_RECORDER_CHILD_H
#define ARGUS_RECORDER_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "argus/error.h"

struct child {
    pid_t pid;
    int go_fd;    /* the child waits for a byte or the end here */
    int error_fd; /* it writes errno here when exec fails */
    int pid_fd;   /* readable when it has ended */
};

/* Forks a child that waits; `argv` is NULL-terminated. A missing program is an error at once. */
struct argus_error *child_create(char *const *argv, struct child *ret);
/* Starts the program. On an error the child has ended. */
struct argus_error *child_go(struct child *child, const char *name);
/* Waits until the child ends or `other_fd` is readable; true: the child has ended. */
bool child_wait(struct child *child, int other_fd);
/* Reaps the child, waiting if necessary. Returns its exit code, or 128 + the signal that ended
 * it. */
int child_exit_code(struct child *child);
/* Closes the pipes; a child that was not started never runs the program. */
void child_deinit(struct child *child);

#endif
