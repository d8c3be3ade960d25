/* Helpers of the commands for printing JSON and times. */
#ifndef ARGUS_PLUGIN_JSON_OUTPUT_H
#define ARGUS_PLUGIN_JSON_OUTPUT_H

#include <jansson.h>

#include "argus/trace.h"
#include "base/wall_time.h"
#include "plugin/session.h"
#include "report/json.h" /* json_text() */

/* The version of the trace format that this Argus writes, e.g. "1.0". */
#define ARGUS_STRINGIFY_(x) #x
#define ARGUS_STRINGIFY(x)  ARGUS_STRINGIFY_(x)
#define ARGUS_TRACE_VERSION_TEXT                                                                   \
    ARGUS_STRINGIFY(ARGUS_TRACE_VERSION_MAJOR) "." ARGUS_STRINGIFY(ARGUS_TRACE_VERSION_MINOR)

/* Prints `json` with the member "format" (json_with_format()) and a newline, and frees it. `format`
 * NULL: `json` has that member. NULL as `json` (jansson had no memory) is an error. */
struct argus_error *json_output(struct session *session, const char *format, json_t *json);

/* Writes a time of the trace's clock into `buffer` as local time: "14:32:10.000000123". */
const char *clock_text(const struct argus_trace *trace, uint64_t ns, char *buffer,
                       size_t buffer_bytes);

#endif
