/* Starting argus-recorder. */
#ifndef ARGUS_RECORDER_LAUNCH_H
#define ARGUS_RECORDER_LAUNCH_H

#include <sys/types.h>

#include "argus/error.h"

/* Runs `argus-recorder serve` and waits until it is ready or has failed. If it may not record as
 * the caller (root, or capabilities of its file), sudo starts it. Without a terminal (a systemd
 * unit) sudo must not ask for a password; if it refuses, polkit decides (pkexec). */
struct argus_error *launch_recorder(void);

enum launch_by {
    LAUNCH_PLAIN = 0,
    LAUNCH_SUDO = 1,
    LAUNCH_SUDO_SILENT, /* does not ask for a password */
    LAUNCH_PKEXEC,
};

/* Runs `argus-recorder VERB` with the given standard input (-1: inherited) and output; the caller
 * waits for it. */
struct argus_error *launch_recorder_verb(const char *verb, int input_fd, int output_fd,
                                         enum launch_by by, pid_t *ret_pid);

#endif
