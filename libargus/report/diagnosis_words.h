/* The words of a diagnosis, for text and pages. */
#ifndef ARGUS_REPORT_DIAGNOSIS_WORDS_H
#define ARGUS_REPORT_DIAGNOSIS_WORDS_H

#include "argus/report.h"

#define DIAGNOSIS_SUMMARY_BYTES 1280

/* One sentence that a non-expert understands; NULL: a question is open. Written into `buffer`,
 * which is returned; so below. */
const char *diagnosis_summary_text(const struct argus_graph *graph,
                                   const struct argus_diagnosis *diagnosis, char *buffer,
                                   size_t bytes);
/* What a vertex on the path did in the hang: the culprits' own words, or its wait. */
const char *diagnosis_step_text(const struct argus_report_context *context,
                                const struct argus_diagnosis *diagnosis, size_t at, char *buffer,
                                size_t bytes);
/* "editor [4711], v12, LongWait, 97 % of the hang: …". */
const char *diagnosis_culprit_text(const struct argus_report_context *context,
                                   const struct argus_culprit *culprit, char *buffer, size_t bytes);
/* "rebuild_index: in 31 of 35 samples, innermost in 30"; with the file only for functions that
 * every program has. */
const char *diagnosis_function_text(const struct argus_costly_function *function, char *buffer,
                                    size_t bytes);

/* One thread's share of the hang in one state. */
struct diagnosis_share {
    uint64_t ns, longest_ns;
    uint32_t thread, vertex; /* the vertex with most of it; ARGUS_NONE: not known */
    uint8_t state;           /* enum argus_stretch_state */
    bool several;            /* it consists of several vertices */
};

/* One share for each thread and state, the largest first. The caller must free() `*ret`. */
struct argus_error *diagnosis_shares(const struct argus_report_context *context,
                                     const struct argus_diagnosis *diagnosis,
                                     struct diagnosis_share **ret, size_t *ret_count);

#endif
