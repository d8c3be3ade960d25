/* `argus diagnose --live PID`: records a process that hangs now, and watches the variable of its
 * loop. */
#ifndef ARGUS_PLUGIN_COMMANDS_DIAGNOSE_LIVE_H
#define ARGUS_PLUGIN_COMMANDS_DIAGNOSE_LIVE_H

#include "plugin/command.h"

#define DIAGNOSE_LIVE_OPTIONS                                                                      \
    {"live", 0, "PID", "record this process now, and watch the variable of its loop"},             \
        {"wait", 0, "DURATION",                                                                    \
         "with --live: wait up to DURATION for a write of the variable (5s)"},                     \
    {                                                                                              \
        "output", 'o', "FILE", "with --live: write the trace to FILE (argus.argus)"                \
    }

struct live_recording {
    uint64_t pid;
    char *path; /* of the trace; owned */
};

/* Whether the options ask for it; an error if they contradict. */
struct argus_error *diagnose_live_is_meant(const struct session *session,
                                           const struct arguments *arguments, bool *ret);

/* Records, and leaves the trace at ret->path. Remarks say what was watched and what happened to it.
 * A loop whose code does not tell a variable, or a variable that cannot be watched, is a warning.
 * NOT_FOUND: no such process. PERMISSION: it belongs to another user. BUSY: another recording goes
 * into a file. */
struct argus_error *diagnose_live_record(struct session *session, const struct arguments *arguments,
                                         struct live_recording *ret);

#endif
