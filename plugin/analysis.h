/* What the commands that work on a graph have in common: FILE, the graph, symbols, where to write. */
#ifndef ARGUS_PLUGIN_ANALYSIS_H
#define ARGUS_PLUGIN_ANALYSIS_H

#include "argus/report.h"
#include "plugin/session_trace.h"

struct analysis {
    struct session *session;
    const struct arguments *arguments;
    struct session_trace *trace;     /* its graph is built; borrowed from the session */
    const struct argus_graph *graph; /* the same graph */
    struct argus_sink sink;          /* session->out */
    struct argus_report_context report;
    size_t next; /* the first word behind FILE */
    bool json;
};

/* Where a report goes: session->out. */
struct argus_sink session_sink(struct session *session);

/* Loads FILE (or takes the loaded trace) and checks that `least` to `most` words follow it. `ret` stays where it is:
 * its members point to each other. Nothing to end. */
struct argus_error *analysis_begin(struct session *session, const struct arguments *arguments,
                                   size_t least, size_t most, struct analysis *ret);

/* For output that has no place for it: how many of its frames have no symbol, and why, as a remark. */
void analysis_note_unnamed(const struct analysis *analysis);

/* The word `index` behind FILE, NULL if there is none. */
const char *analysis_word(const struct analysis *analysis, size_t index);

/* The vertex that a word names: "v1234". */
struct argus_error *analysis_vertex(const struct analysis *analysis, const char *word,
                                    uint32_t *ret);

/* A process by its name (comm), with a hint when there is none; NULL: it exists. */
struct argus_error *analysis_check_process(const struct analysis *analysis, const char *name);
/* The same of a thread, by its id or its name. */
struct argus_error *analysis_check_thread(const struct analysis *analysis, const char *text);

#endif
