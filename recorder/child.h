/* The program that `argus record` runs: made ready before the recording begins, let go after. */
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

/* Forks a child that waits; `argv` is NULL-terminated. A program that is not there is an error at once. */
struct argus_error *child_create(char *const *argv, struct child *ret);
/* Lets it run. When it cannot be executed after all: an error, and the child is gone. */
struct argus_error *child_go(struct child *child, const char *name);
/* Waits until it ends or `other_fd` is readable, whichever is first; true: it has ended. */
bool child_wait(struct child *child, int other_fd);
/* Collects it, waiting if need be; its exit code, 128 + signal if one ended it. */
int child_exit_code(struct child *child);
/* Closes; a child that was not let go never runs. */
void child_deinit(struct child *child);

#endif
