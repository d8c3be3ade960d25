/* Starting argus-recorder. */
#ifndef ARGUS_RECORDER_LAUNCH_H
#define ARGUS_RECORDER_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "argus/error.h"

/* Runs `argus-recorder serve`, through sudo unless we are root, and waits until it answers or says why not. */
struct argus_error *launch_recorder(void);

/* Runs `argus-recorder VERB` with these as standard input (-1: ours) and output, as we are or through sudo; the caller waits for it. */
struct argus_error *launch_recorder_verb(const char *verb, int input_fd, int output_fd,
                                         bool with_sudo, pid_t *ret_pid);

#endif
