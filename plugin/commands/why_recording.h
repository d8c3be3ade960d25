/* What a running recorder has recorded before `argus why` was asked. */
#ifndef ARGUS_PLUGIN_COMMANDS_WHY_RECORDING_H
#define ARGUS_PLUGIN_COMMANDS_WHY_RECORDING_H

#include "argus/report.h"
#include "plugin/session_trace.h"

/* If a recorder keeps the newest records in memory: writes them to a file without a name below
 * TMPDIR, and the diagnosis of the thread's hang that is still going on to `sink`. Takes some
 * seconds. `*ret_written` false: no recorder runs, or its records show no such hang, or could not
 * be read, which a remark says. The only error is INTERRUPTED. The thread belongs to the process
 * `pid`. */
struct argus_error *why_recording_write(struct session *session, const struct arguments *arguments,
                                        uint32_t pid, uint32_t tid, const struct argus_sink *sink,
                                        bool json, bool *ret_written);

#endif
