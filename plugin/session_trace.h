/* The trace that a command works on, and what is built from it on demand.
 *
 * A command's first word is FILE. It may be left out: plugin/trace_choice.h then takes the newest trace here, and in LLDB the
 * one of `argus load FILE` is meant. A word is FILE when it ends in .argus or names an existing file, and where no trace is
 * loaded also when it is no vertex, number or answer. A trace that is damaged or was cut off still works:
 * a warning says so, and the command's exit code becomes 4.
 */
#ifndef ARGUS_PLUGIN_SESSION_TRACE_H
#define ARGUS_PLUGIN_SESSION_TRACE_H

#include "argus/graph.h"
#include "argus/symbols.h"
#include "plugin/command.h"

struct session_trace {
    char *path;                    /* as it was given; owned */
    struct argus_trace *trace;     /* owned */
    struct argus_graph *graph;     /* owned; NULL until a command needs it */
    char *kept;                    /* where a built graph is kept, or why not; owned; may be NULL */
    uint64_t rules;                /* identity of the rules by which the graph was built */
    struct argus_symbols *symbols; /* owned; NULL until a command needs it */
    bool warned;                   /* what is missing in it has been said */
};

/* The trace that the command is about. `*ret_next`: index of the first word behind FILE. `*ret` is borrowed
 * from the session and valid until the command ends. */
struct argus_error *session_trace_get(struct session *session, const struct arguments *arguments,
                                      size_t *ret_next, struct session_trace **ret);

/* Only its path, as it was given: nothing is opened. Borrowed, as above. */
struct argus_error *session_trace_path(const struct session *session,
                                       const struct arguments *arguments, size_t *ret_next,
                                       const char **ret);

/* The same, with the graph built. */
struct argus_error *session_trace_get_graph(struct session *session,
                                            const struct arguments *arguments, size_t *ret_next,
                                            struct session_trace **ret);

/* The symbols of a trace whose graph is built; borrowed. What they fetch from servers is shown as progress of `session`. */
struct argus_error *session_trace_symbols(struct session *session, struct session_trace *trace,
                                          struct argus_symbols **ret);

/* Opens `path` and builds its graph. `*ret` is the caller's; session_trace_destroy(). */
struct argus_error *session_trace_load(struct session *session, const struct arguments *arguments,
                                       const char *path, struct session_trace **ret);

/* Opens `path` and builds the graph for session->trace, replacing what was loaded. On an error the old one stays. */
struct argus_error *session_load(struct session *session, const struct arguments *arguments,
                                 const char *path);

/* A new answer begins: what was shown and fetched for the last one is counted no more. `trace` may be NULL. */
void session_trace_forget_shown(struct session_trace *trace);

/* Says what could not be fetched for the answer; nothing if all could, or nothing was wanted. `trace` may be NULL. */
void session_trace_say_fetched(struct session *session, const struct session_trace *trace);

/* NULL is fine. */
void session_trace_destroy(struct session_trace *trace);

#endif
