/* Diagnoses the hang that a trace was kept for, with nobody there to ask. */
#ifndef ARGUS_PLUGIN_COMMANDS_HANG_EXPLAIN_H
#define ARGUS_PLUGIN_COMMANDS_HANG_EXPLAIN_H

#include "argus/kept_hang.h"
#include "argus/report.h"
#include "plugin/session_trace.h"

/* Puts type, signature and cause of `hang`, one of `trace`, into `ret`. Every question takes its default. */
struct argus_error *hang_explain(struct session *session, struct session_trace *trace,
                                 const struct argus_hang *hang, struct argus_kept_hang *ret);

/* The same of the trace at `path` and the hang that it was kept for. `ret->diagnosed` stays false where its records do not show it. */
struct argus_error *hang_explain_file(struct session *session, const struct arguments *arguments,
                                      const char *path, struct argus_kept_hang *ret);

#endif
