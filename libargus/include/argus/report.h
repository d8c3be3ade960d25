/* Writers: results as text for people and as JSON (DESIGN section 8). They write to a `struct argus_sink`, never to a file.
 *
 * The same result gives the same bytes. Times of day are local ones in texts (TZ), and UTC in JSON.
 */
#ifndef ARGUS_REPORT_H
#define ARGUS_REPORT_H

#include "argus/abilities.h"
#include "argus/compare.h"
#include "argus/diagnose.h"
#include "argus/diverge.h"
#include "argus/inspect.h"
#include "argus/messages.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where text goes. `write` gets whole pieces of UTF-8 and returns false when no more is wanted. */
struct argus_sink {
    bool (*write)(void *context, const char *text, size_t bytes);
    void *context;
    int width;  /* columns, 0: unlimited */
    bool color; /* ANSI colours may be used */
};

bool argus_sink_printf(const struct argus_sink *sink, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What the writers need besides the result. `symbols` may be NULL: addresses then. */
struct argus_report_context {
    const struct argus_graph *graph;
    struct argus_symbols *symbols;
    const struct argus_sink *sink;
};

/* "3 of 20 frames have no symbol, because …", of what was shown with `symbols` (NULL: nothing) for the answer at hand; NULL when all have
 * one. For writers of data that have no place for it; the others say it by themselves. Into `buffer`. */
const char *argus_report_unnamed(const struct argus_symbols *symbols, char *buffer,
                                 size_t buffer_bytes);

/* Each pair: text for people, one JSON object for programs. */
struct argus_error *argus_report_graph_summary(const struct argus_report_context *context,
                                               bool json);
/* An instruction trace of a vertex: a step file. */
struct argus_report_steps {
    const char *path;
    uint64_t pid, tid, wall_ns; /* of the run that was stepped; since 1970 */
    uint32_t steps;
    const char *end_text; /* why it ended; "": it was cut off */
};

/* `steps`, `step_count`: the step files of the vertex; may be NULL and 0. */
struct argus_error *argus_report_vertex(const struct argus_report_context *context, uint32_t vertex,
                                        const struct argus_report_steps *steps, size_t step_count,
                                        bool json);
struct argus_error *argus_report_vertices(const struct argus_report_context *context,
                                          const uint32_t *vertices, size_t count, bool json);
/* `inspection` and `verification` are of the context's graph; `long_ns` is what the inspection took for a long wait. */
struct argus_error *argus_report_check(const struct argus_report_context *context,
                                       const struct argus_inspection *inspection,
                                       const struct argus_verification *verification,
                                       uint64_t long_ns, bool json);
/* `abilities`: what the rules can do on this trace; it has entries for traces of Darwin only. */
struct argus_error *argus_report_comparison(const struct argus_report_context *context,
                                            const struct argus_comparison *comparison,
                                            const struct argus_abilities *abilities, bool json);
/* The built-in rules and those of `rules` (NULL: none), and how often each applied in `graph`, which was built by them; NULL: no
 * counts. */
struct argus_error *argus_report_schema(const struct argus_sink *sink,
                                        const struct argus_graph *graph,
                                        const struct argus_rule_set *rules, bool json);
struct argus_error *argus_report_hangs(const struct argus_report_context *context,
                                       const struct argus_hangs *hangs, bool json);
/* As text, when there are no hangs: what was looked at, the longest stretches, and why they do not count. `shorter`: stretches
 * of less than `threshold_ns`; `loops`: the event loops among the threads that were looked at. */
void argus_report_no_hangs(const struct argus_report_context *context, uint64_t threshold_ns,
                           const struct argus_hangs *shorter, const struct argus_loops *loops);
struct argus_error *argus_report_similars(const struct argus_report_context *context,
                                          uint32_t vertex, const struct argus_report_context *other,
                                          const struct argus_similars *similars, bool json);
struct argus_error *argus_report_slice(const struct argus_report_context *context,
                                       const struct argus_slice *slice, bool json);
struct argus_error *argus_report_diagnosis(const struct argus_report_context *context,
                                           const struct argus_diagnosis *diagnosis, bool json);

/* `normal` NULL: `bad` alone; both are what argus_diverge() got. No graph is needed. */
struct argus_error *argus_report_divergence(const struct argus_sink *sink,
                                            struct argus_steps *normal, struct argus_steps *bad,
                                            const struct argus_divergence *divergence, bool json);

struct argus_report_messages_options {
    const char
        *process; /* only channels with a thread of this process (comm) at one end; NULL: all */
    bool pairs;   /* every pair, too */
};

/* The messages of a trace, by channel; reads it once, and once more for the pairs. No graph is needed. */
struct argus_error *argus_report_messages(const struct argus_sink *sink,
                                          const struct argus_trace *trace,
                                          const struct argus_report_messages_options *options,
                                          bool json);

/* Of a trace time "14:32:10.123456" and "2026-11-23 14:32:10.123 +0100", both local; of a duration "1.234 s", "12.3 ms": into
 * `buffer`, which is returned. */
const char *argus_time_text(const struct argus_trace *trace, uint64_t ns, char *buffer,
                            size_t bytes);
const char *argus_moment_text(const struct argus_trace *trace, uint64_t ns, char *buffer,
                              size_t bytes);
const char *argus_duration_text(uint64_t ns, char *buffer, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
