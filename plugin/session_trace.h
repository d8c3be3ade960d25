/* The trace that a command works on, and what is built from it on demand.
 *
 * A command's first word is FILE. If it is left out, plugin/trace_choice.h takes the newest trace
 * here, or, in LLDB, the trace of `argus load FILE`. A word is FILE if it ends in .argus or names
 * an existing file; if no trace is loaded, also if it is no vertex, number or answer. A damaged or
 * cut-off trace still works: a warning says so, and the command's exit code becomes 4.
 */
#ifndef ARGUS_PLUGIN_SESSION_TRACE_H
#define ARGUS_PLUGIN_SESSION_TRACE_H

#include "argus/graph.h"
#include "argus/symbols.h"
#include "plugin/command.h"

struct session_trace {
    char *path;                /* as given by the user; owned */
    struct argus_trace *trace; /* owned */
    struct argus_graph *graph; /* owned; NULL until a command needs it */
    char *kept;     /* where a built graph was saved, or why it was not; owned; may be NULL */
    uint64_t rules; /* identity of the rules that the graph was built with */
    struct argus_symbols *symbols; /* owned; NULL until a command needs it */
    bool warned;                   /* the warnings about missing parts have been printed */
};

/* The trace of the command. `*ret_next`: index of the first word after FILE. `*ret` is borrowed
 * from the session and valid until the command ends. */
struct argus_error *session_trace_get(struct session *session, const struct arguments *arguments,
                                      size_t *ret_next, struct session_trace **ret);

/* Whether it is a trace of another tool, of which the library reads an imported copy. */
bool session_trace_is_imported(const struct session_trace *trace);

/* Returns only its path, as given, and opens nothing. Borrowed, as above. */
struct argus_error *session_trace_path(const struct session *session,
                                       const struct arguments *arguments, size_t *ret_next,
                                       const char **ret);

/* Same as session_trace_get(), with the graph built. */
struct argus_error *session_trace_get_graph(struct session *session,
                                            const struct arguments *arguments, size_t *ret_next,
                                            struct session_trace **ret);

/* The symbols of a trace whose graph is built; borrowed. Downloads from servers are shown as
 * progress of `session`. */
struct argus_error *session_trace_symbols(struct session *session, struct session_trace *trace,
                                          struct argus_symbols **ret);

/* Opens `path` and builds its graph. The caller owns `*ret`; session_trace_destroy(). */
struct argus_error *session_trace_load(struct session *session, const struct arguments *arguments,
                                       const char *path, struct session_trace **ret);

/* Opens `path`, builds the graph, and replaces session->trace. On an error the old trace stays. */
struct argus_error *session_load(struct session *session, const struct arguments *arguments,
                                 const char *path);

/* Begins a new answer: forgets what was shown and fetched for the previous one. `trace` may be
 * NULL. */
void session_trace_forget_shown(struct session_trace *trace);

/* Prints what could not be fetched for the answer; nothing if everything could, or nothing was
 * needed. `trace` may be NULL. */
void session_trace_note_fetched(struct session *session, const struct session_trace *trace);

/* NULL is allowed. */
void session_trace_destroy(struct session_trace *trace);

#endif
