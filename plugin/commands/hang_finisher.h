/* Finishes the files of --on-hang, one after the other, each in a process of its own with low priority: unwinds stacks, adds names,
 * diagnoses the hang, applies the quota, and tells the desktop. It takes seconds, in which the watcher goes on to take snapshots. The
 * memory that it takes is gone with the process, and so is a process that fails. */
#ifndef ARGUS_PLUGIN_COMMANDS_HANG_FINISHER_H
#define ARGUS_PLUGIN_COMMANDS_HANG_FINISHER_H

#include <limits.h>
#include <sys/types.h>

#include "base/vec.h"
#include "plugin/commands/hang_quota.h"
#include "plugin/commands/hang_watcher.h"
#include "recorder/client.h"

/* A file whose snapshot is written. */
struct hang_job {
    char name[NAME_MAX + 1];
    struct reply_hang hang;
    struct recorder_status status;
};

struct hang_finished {
    struct reply_hang hang;
    bool full;        /* files of this kind were as many as the quota allows */
    char remark[256]; /* for `argus status`; "": none */
};

struct hang_finisher {
    struct session *session;
    struct recorder_client *client;  /* which the processes close; borrowed */
    const struct hang_files *wanted; /* borrowed */
    VEC(struct hang_job) jobs;
    size_t next;
    pid_t pid; /* of the process that runs; -1: none could be made */
    int fd;    /* readable when it is done; -1: nothing is being done */
};

/* False without memory. */
bool hang_finisher_add(struct hang_finisher *finisher, const struct hang_job *job);
/* Begins with the next file, if there is one and nothing is being done. False: nothing is being done now. */
bool hang_finisher_begin(struct hang_finisher *finisher);
/* Waits until what is being done is done. */
void hang_finisher_wait(struct hang_finisher *finisher, struct hang_finished *ret);
void hang_finisher_deinit(struct hang_finisher *finisher);

#endif
