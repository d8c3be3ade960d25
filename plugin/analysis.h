/* Shared by the commands that work on a graph: finding FILE, the graph, symbols, and the output. */
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
    size_t next; /* index of the first word after FILE */
    bool json;
};

/* The sink for reports: session->out. */
struct argus_sink session_sink(struct session *session);

/* Loads FILE (or takes the loaded trace) and checks that `least` to `most` words follow it. `ret`
 * must not be moved, because its members point to each other. It owns nothing, so there is no
 * function to end it. */
struct argus_error *analysis_begin(struct session *session, const struct arguments *arguments,
                                   size_t least, size_t most, struct analysis *ret);

/* Same for the trace at `path`, whatever the words are. The words that follow FILE are then those
 * from the first on. */
struct argus_error *analysis_begin_file(struct session *session, const struct arguments *arguments,
                                        const char *path, struct analysis *ret);

/* Prints a remark about frames without a symbol and the reason, for output formats without room for
 * it. */
void analysis_note_unnamed(const struct analysis *analysis);

/* The word `index` after FILE; NULL if there is none. */
const char *analysis_word(const struct analysis *analysis, size_t index);

/* Parses a word that names a vertex: "v1234". */
struct argus_error *analysis_vertex(const struct analysis *analysis, const char *word,
                                    uint32_t *ret);

/* Whether the trace has one with this ID. */
bool analysis_has_process(const struct analysis *analysis, uint64_t pid);
bool analysis_has_thread(const struct analysis *analysis, uint64_t tid);

/* Checks that a process with this name (comm) exists; the error has a hint. NULL: it exists. */
struct argus_error *analysis_check_process(const struct analysis *analysis, const char *name);
/* Same for a thread, by its id or its name. */
struct argus_error *analysis_check_thread(const struct analysis *analysis, const char *text);

#endif
