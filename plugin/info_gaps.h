/* What a trace lacks (argus/gaps.h), for `argus info`. */
#ifndef ARGUS_PLUGIN_INFO_GAPS_H
#define ARGUS_PLUGIN_INFO_GAPS_H

#include <jansson.h>

#include "argus/trace.h"
#include "plugin/session.h"

/* Prints two lines: what is missing completely, and what is missing in part. */
void info_gaps_print(struct session *session, const struct argus_trace *trace);
/* A list with one object each: what, partly, loss, reason. NULL without memory. */
json_t *info_gaps_json(const struct argus_trace *trace);

#endif
