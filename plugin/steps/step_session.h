/* One run of a stepping engine into a step file, after the command line of `argus step` is
 * parsed. */
#ifndef ARGUS_PLUGIN_STEP_SESSION_H
#define ARGUS_PLUGIN_STEP_SESSION_H

#include "plugin/session.h"
#include "plugin/steps/step_collect.h"
#include "recorder/client/child.h"
#include "recorder/client/output.h"

/* What is to be stepped. */
struct step_wanted {
    struct step_request request;
    const char *begin_text; /* the place's name */
    const char *registers;  /* see step_collector_init(); NULL: all */
    uint32_t vertex;        /* ARGUS_NONE: none */
    uint64_t trace_identity;
    const char *trace;    /* path of the vertex's trace; NULL: none */
    char *const *argv;    /* a program to start; NULL: none */
    const char *function; /* in LLDB: name of the place, if the request has no place; else NULL */
};

/* The result. */
struct step_outcome {
    struct argus_steps_about about; /* without its strings */
    char comm[16];
    uint32_t steps;
    uint64_t calls, skips, signals, elapsed_ns;
    enum argus_step_end end;
    char end_text[512];
};

/* Steps with the ptrace engine into `to`. `child` (may be NULL) waits to be released, and continues
 * afterwards. */
struct argus_error *step_session_run(struct session *session, const struct step_wanted *wanted,
                                     const struct argus_output *to, struct child *child,
                                     struct step_outcome *ret);

/* The same into a user's file, which a process of its own writes, so that its file system cannot
 * hold this one. The caller commits the file. */
struct argus_error *step_session_run_apart(struct session *session,
                                           const struct step_wanted *wanted, struct output *output,
                                           struct child *child, struct step_outcome *ret);

/* Same with the engine of the debugger that this code runs in. */
struct argus_error *step_session_debug(struct session *session, const struct step_wanted *wanted,
                                       int fd, struct step_outcome *ret);

#endif
