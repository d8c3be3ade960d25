/* What can be said of a trace that does not tell for what threads wait. */
#ifndef ARGUS_REPORT_RUN_TIMES_H
#define ARGUS_REPORT_RUN_TIMES_H

#include "argus/report.h"

/* If the trace lacks records of wake-ups or system calls (only on Darwin), says so, what that
 * means, and which threads ran most, with the number of their samples. */
struct argus_error *report_run_times(const struct argus_report_context *context);
/* "wake-ups", "system calls", "wake-ups and system calls"; NULL: none is missing. */
const char *report_missing_kinds(const struct argus_graph *graph);

#endif
