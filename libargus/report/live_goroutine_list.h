/* The goroutines of a Go program in an answer about the living system, as text and as JSON. */
#ifndef ARGUS_REPORT_LIVE_GOROUTINE_LIST_H
#define ARGUS_REPORT_LIVE_GOROUTINE_LIST_H

#include <jansson.h>

#include "argus/live.h"
#include "argus/report.h"

/* A section of the report; nothing if the answer has none. */
void report_goroutines(const struct argus_sink *sink, const struct argus_live *live,
                       const struct argus_live_answer *answer);
/* An array, empty if the answer has none. Owned by the caller. */
json_t *json_goroutines(const struct argus_live *live, const struct argus_live_answer *answer);

#endif
