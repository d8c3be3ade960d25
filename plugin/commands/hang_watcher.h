/* The background process that keeps the hangs which the recorder detects (argus start
 * --on-hang). */
#ifndef ARGUS_PLUGIN_COMMANDS_HANG_WATCHER_H
#define ARGUS_PLUGIN_COMMANDS_HANG_WATCHER_H

#include <sys/types.h>

#include "plugin/command.h"
#include "plugin/commands/hang_quota.h"

/* The files to keep, and how. */
struct hang_files {
    const struct arguments *arguments; /* of argus start; borrowed */
    const char *folder;                /* absolute; borrowed */
    struct hang_quota quota;
    bool with_names; /* look up function names */
    bool quiet;      /* show no notifications */
};

/* Starts a process, which has the user's rights even under sudo. It writes a snapshot into the
 * directory `fd` (ownership passes) for each hang, until the recording ends. Returns once the
 * process watches. */
struct argus_error *hang_watcher_start(struct session *session, int fd,
                                       const struct hang_files *kept, pid_t *ret_pid);

#endif
