/* What the two writers of an inspection share. */
#ifndef ARGUS_REPORT_REPORT_CHECK_H
#define ARGUS_REPORT_REPORT_CHECK_H

#include <jansson.h>

#include "argus/report.h"

struct check_report {
    const struct argus_report_context *context;
    const struct argus_inspection *inspection;
    const struct argus_verification *verification;
    const struct argus_trace *trace;
    const struct argus_process *processes;
    const struct argus_thread *threads;
    const struct argus_vertex *vertices;
    uint64_t long_ns;
};

/* The function at `address`, in the form of a split place: "serve", "libfoo.so+0x12"; into
 * `buffer`. */
const char *check_report_function(const struct check_report *report,
                                  const struct argus_split_place *place, uint64_t address,
                                  char *buffer, size_t bytes);

/* Whether a note of the recorder says that something is switched off or could not be recorded. */
bool check_report_is_gap_note(const char *note);

json_t *check_report_json(const struct check_report *report);

#endif
