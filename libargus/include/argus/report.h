/* Writers: results as text for people and as JSON (DESIGN section 8). They write to a `struct
 * argus_sink`, never to a file.
 *
 * The same result gives the same bytes. Times of day are local (TZ) in texts and UTC in JSON.
 */
#ifndef ARGUS_REPORT_H
#define ARGUS_REPORT_H

#include "argus/abilities.h"
#include "argus/compare.h"
#include "argus/diagnose.h"
#include "argus/diverge.h"
#include "argus/inspect.h"
#include "argus/live.h"
#include "argus/messages.h"
#include "argus/step_items.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The destination of a writer. `write` gets complete pieces of UTF-8 and returns false to stop the
 * writer. */
struct argus_sink {
    bool (*write)(void *context, const char *text, size_t bytes);
    void *context;
    int width;  /* columns, 0: unlimited */
    bool color; /* ANSI colours may be used */
};

bool argus_sink_printf(const struct argus_sink *sink, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What the writers need besides the result. `symbols` may be NULL: addresses are printed then. */
struct argus_report_context {
    const struct argus_graph *graph;
    struct argus_symbols *symbols;
    const struct argus_sink *sink;
};

/* "3 of 20 frames have no symbol, because …": about the frames that `symbols` (NULL: none) has
 * shown for the current answer. NULL: all have a symbol. For writers of data that have no place for
 * this sentence; the other writers print it themselves. Written into `buffer`. */
const char *argus_report_unnamed(const struct argus_symbols *symbols, char *buffer,
                                 size_t buffer_bytes);

/* The sentence that says what a culprit did, without its end. Written into `buffer`, which is
 * returned. */
const char *argus_culprit_why(const struct argus_report_context *context,
                              const struct argus_culprit *culprit, char *buffer, size_t bytes);

/* In each pair, one function writes text for people and the other one JSON object for programs. */
struct argus_error *argus_report_graph_summary(const struct argus_report_context *context,
                                               bool json);
/* A step file: an instruction trace of a vertex. */
struct argus_report_steps {
    const char *path;
    uint64_t pid, tid, wall_ns; /* of the run that was stepped; wall_ns since 1970 */
    uint32_t steps;
    const char *end_text; /* why it ended; "": the file was cut off */
};

/* `steps`, `step_count`: the step files of the vertex; may be NULL and 0. */
struct argus_error *argus_report_vertex(const struct argus_report_context *context, uint32_t vertex,
                                        const struct argus_report_steps *steps, size_t step_count,
                                        bool json);
struct argus_error *argus_report_vertices(const struct argus_report_context *context,
                                          const uint32_t *vertices, size_t count, bool json);
/* `inspection` and `verification` belong to the context's graph; `long_ns` is the length from which
 * the inspection takes a wait for long. */
struct argus_error *argus_report_check(const struct argus_report_context *context,
                                       const struct argus_inspection *inspection,
                                       const struct argus_verification *verification,
                                       uint64_t long_ns, bool json);
/* `abilities`: which rules work on this trace; it has entries only for traces of Darwin. */
struct argus_error *argus_report_comparison(const struct argus_report_context *context,
                                            const struct argus_comparison *comparison,
                                            const struct argus_abilities *abilities, bool json);
/* The built-in rules and those of `rules` (NULL: none), and how often each applied in `graph`,
 * which was built with them. `graph` NULL: no counts. */
struct argus_error *argus_report_schema(const struct argus_sink *sink,
                                        const struct argus_graph *graph,
                                        const struct argus_rule_set *rules, bool json);
struct argus_error *argus_report_hangs(const struct argus_report_context *context,
                                       const struct argus_hangs *hangs, bool json);
/* Text for a trace without hangs: what was examined, the longest periods, why they do not count,
 * and what the trace lacks to find hangs. `shorter`: periods shorter than `threshold_ns`; `loops`:
 * the event loops among the examined threads. */
struct argus_error *argus_report_no_hangs(const struct argus_report_context *context,
                                          uint64_t threshold_ns, const struct argus_hangs *shorter,
                                          const struct argus_loops *loops);
struct argus_error *argus_report_similars(const struct argus_report_context *context,
                                          uint32_t vertex, const struct argus_report_context *other,
                                          const struct argus_similars *similars, bool json);
struct argus_error *argus_report_slice(const struct argus_report_context *context,
                                       const struct argus_slice *slice, bool json);
struct argus_error *argus_report_diagnosis(const struct argus_report_context *context,
                                           const struct argus_diagnosis *diagnosis, bool json);
/* The clause of the summary that gives the cause: "it waited for B, which slept". Written into
 * `buffer`, which is returned. */
const char *argus_diagnosis_cause_text(const struct argus_graph *graph,
                                       const struct argus_diagnosis *diagnosis, char *buffer,
                                       size_t bytes);

/* `normal` and `bad` are the arguments of argus_diverge(); `normal` NULL: `bad` alone. No graph is
 * needed. */
/* Why `thread` does not go on (argus_live_walk()). `recording`: with `json`, the text of another
 * object, which becomes a member: the diagnosis of a recording; NULL: none. */
struct argus_error *argus_report_live(const struct argus_sink *sink, struct argus_live *live,
                                      uint32_t thread, const struct argus_live_answer *answer,
                                      bool json, const char *recording);
/* What is frozen (argus_live_look_around()): `answers` are those of the first `count` threads. */
struct argus_error *argus_report_live_all(const struct argus_sink *sink, struct argus_live *live,
                                          const struct argus_live_overview *overview,
                                          const struct argus_live_answer *answers, size_t count,
                                          bool json);
struct argus_error *argus_report_divergence(const struct argus_sink *sink,
                                            struct argus_steps *normal, struct argus_steps *bad,
                                            const struct argus_divergence *divergence, bool json);

struct argus_report_steps_options {
    struct argus_step_items_wanted wanted;
    bool registers; /* those that changed since the previous item; in JSON all of them */
    uint64_t most_items;
    bool json;
    bool (*is_stopped)(void *context); /* asked after each item; NULL: never */
    void *context;
};

/* What was stepped, and why it ended. */
void argus_report_steps_about(const struct argus_sink *sink, const struct argus_steps *steps);
struct argus_error *argus_report_steps_about_json(const struct argus_sink *sink,
                                                  const struct argus_steps *steps);
/* The items, one a line. NOT_FOUND: the trace has no steps. */
struct argus_error *argus_report_steps(const struct argus_sink *sink, struct argus_steps *steps,
                                       const struct argus_report_steps_options *options);

struct argus_report_messages_options {
    /* only channels with a thread of this process (comm) at one end; NULL: all */
    const char *process;
    bool pairs; /* list every pair, too */
};

/* The messages of a trace, by channel. Reads the trace once, and once more for the pairs. No graph
 * is needed. */
struct argus_error *argus_report_messages(const struct argus_sink *sink,
                                          const struct argus_trace *trace,
                                          const struct argus_report_messages_options *options,
                                          bool json);

/* A time of the trace as "14:32:10.123456" or "2026-11-23 14:32:10.123 +0100", both local; a
 * duration as "1.234 s" or "12.3 ms". Written into `buffer`, which is returned. */
const char *argus_time_text(const struct argus_trace *trace, uint64_t ns, char *buffer,
                            size_t bytes);
const char *argus_moment_text(const struct argus_trace *trace, uint64_t ns, char *buffer,
                              size_t bytes);
const char *argus_duration_text(uint64_t ns, char *buffer, size_t bytes);

/* --- names and sentences for what the analysis returns as enums and numbers --- */

const char *argus_stretch_state_name(enum argus_stretch_state state);
const char *argus_nature_name(enum argus_hang_nature nature); /* NULL for ARGUS_NATURE_PLAIN */
const char *argus_question_kind_name(enum argus_question_kind kind); /* "hang", "predecessor" … */

/* Buffers of these sizes have room for the texts below, which are written into `buffer` and
 * returned. */
#define ARGUS_QUESTION_TEXT_BYTES 200
#define ARGUS_OPTION_TEXT_BYTES   360
#define ARGUS_LIKENESS_TEXT_BYTES 200

/* A question: one line that ends in "?". */
const char *argus_question_text(const struct argus_question *question, char *buffer, size_t bytes);
/* Why the default of a question is the default. */
const char *argus_default_reason_text(const struct argus_question *question, char *buffer,
                                      size_t bytes);
/* An option of a question about `graph`: one line. */
const char *argus_option_text(const struct argus_graph *graph, const struct argus_option *option,
                              char *buffer, size_t bytes);
const char *argus_likeness_text(const struct argus_likeness *likeness, char *buffer, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
