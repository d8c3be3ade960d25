/* Finishes the files of --on-hang, one after the other, each in a low-priority process of its own:
 * unwinds stacks, adds names, diagnoses the hang, applies the quota, and notifies the desktop. That
 * takes seconds, in which the watcher can take further snapshots. A separate process also returns
 * all its memory, and its crash does not end the watcher. */
#ifndef ARGUS_PLUGIN_COMMANDS_HANG_FINISHER_H
#define ARGUS_PLUGIN_COMMANDS_HANG_FINISHER_H

#include <limits.h>
#include <sys/types.h>

#include "base/vec.h"
#include "plugin/commands/hang_quota.h"
#include "plugin/commands/hang_watcher.h"
#include "recorder/client/client.h"

/* A file whose snapshot is written. */
struct hang_job {
    char name[NAME_MAX + 1];
    struct reply_hang hang;
    struct recorder_status status;
    int fd; /* owned; marks the file as unfinished (hang_folder.h) */
};

/* Marks the file as finished. */
void hang_job_end(const struct hang_job *job);

struct hang_finished {
    struct reply_hang hang;
    bool full;        /* the quota for files of this kind was reached */
    bool is_none;     /* the analysis found no hang: the file is deleted */
    char remark[256]; /* for `argus status`; "": none */
};

struct hang_finisher {
    struct session *session;
    struct recorder_client *client;  /* borrowed; the finishing processes close their copy */
    const struct hang_files *wanted; /* borrowed */
    VEC(struct hang_job) jobs;
    size_t next;
    pid_t pid; /* the finishing process; -1: it could not be created */
    int fd;    /* readable when the file is finished; -1: no file is in progress */
};

/* False without memory. */
bool hang_finisher_add(struct hang_finisher *finisher, const struct hang_job *job);
/* Begins the next file, if there is one and none is in progress. False: none is in progress now. */
bool hang_finisher_begin(struct hang_finisher *finisher);
/* Waits until the current file is finished. */
void hang_finisher_wait(struct hang_finisher *finisher, struct hang_finished *ret);
void hang_finisher_deinit(struct hang_finisher *finisher);

#endif
