/* Starting argus-recorder. */
#ifndef ARGUS_RECORDER_LAUNCH_H
#define ARGUS_RECORDER_LAUNCH_H

#include <sys/types.h>

#include "argus/error.h"

/* Runs `argus-recorder serve`, unless we are root through sudo, and waits until it answers or says why not. Without a terminal (a
 * systemd unit) sudo must not ask; when it refuses, polkit decides (pkexec). */
struct argus_error *launch_recorder(void);

enum launch_by {
    LAUNCH_PLAIN = 0,
    LAUNCH_SUDO = 1,
    LAUNCH_SUDO_SILENT, /* asks nobody for a password */
    LAUNCH_PKEXEC,
};

/* Runs `argus-recorder VERB` with these as standard input (-1: ours) and output; the caller waits for it. */
struct argus_error *launch_recorder_verb(const char *verb, int input_fd, int output_fd,
                                         enum launch_by by, pid_t *ret_pid);

#endif
