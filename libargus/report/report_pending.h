/* What was pending in a hang, in words. */
#ifndef ARGUS_REPORT_PENDING_H
#define ARGUS_REPORT_PENDING_H

#include <jansson.h>

#include "argus/report.h"

/* One of the items, e.g. "3 messages from input [102]", "X events from Xorg [80] (button press)";
 * into `buffer`, which is returned. */
const char *report_pending(const struct argus_report_context *context,
                           const struct argus_pending *pending, char *buffer, size_t bytes);

/* A list of objects: kind, from (process, pid, tid or nulls), since_ns, unread, text. NULL without
 * memory. */
json_t *json_pendings(const struct argus_report_context *context,
                      const struct argus_pendings *pendings);

#endif
