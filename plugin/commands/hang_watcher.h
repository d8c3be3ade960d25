/* The process in the background that keeps the hangs which the recorder finds (argus start --on-hang). */
#ifndef ARGUS_PLUGIN_COMMANDS_HANG_WATCHER_H
#define ARGUS_PLUGIN_COMMANDS_HANG_WATCHER_H

#include <sys/types.h>

#include "plugin/command.h"
#include "plugin/commands/hang_quota.h"

/* Which files are kept, and how. */
struct hang_files {
    const struct arguments *arguments; /* of argus start; borrowed */
    struct hang_quota quota;
    bool with_names; /* of functions */
    bool quiet;      /* no notifications */
};

/* Begins a process of its own, with the rights of the user also under sudo, that writes a snapshot into the directory
 * `fd` (taken) for each hang, until the recording ends. Returns once it watches. */
struct argus_error *hang_watcher_start(struct session *session, int fd,
                                       const struct hang_files *kept, pid_t *ret_pid);

#endif
