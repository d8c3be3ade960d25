/* Diagnoses the hang that a trace was kept for, without asking questions. */
#ifndef ARGUS_PLUGIN_COMMANDS_HANG_EXPLAIN_H
#define ARGUS_PLUGIN_COMMANDS_HANG_EXPLAIN_H

#include "argus/kept_hang.h"
#include "argus/report.h"
#include "plugin/hang_of_file.h"
#include "plugin/session_trace.h"

/* Fills in type, signature and cause of `hang` in `ret`; the hang is one of `trace`. Questions take
 * their defaults. */
struct argus_error *hang_explain(struct session *session, struct session_trace *trace,
                                 const struct argus_hang *hang, struct argus_kept_hang *ret);

/* Same for the trace at `path` and the hang that it was kept for. `ret->diagnosed` stays false if
 * the records do not show that hang. `*ret_standing` is unchanged after an error. */
struct argus_error *hang_explain_file(struct session *session, const struct arguments *arguments,
                                      const char *path, struct argus_kept_hang *ret,
                                      enum hang_standing *ret_standing);

#endif
