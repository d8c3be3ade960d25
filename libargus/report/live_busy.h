/* What a running thread does, and the variables for which a polling thread waits. */
#ifndef ARGUS_REPORT_LIVE_BUSY_H
#define ARGUS_REPORT_LIVE_BUSY_H

#include <jansson.h>

#include "argus/report.h"

/* "its loop in wait_ready() waits for the variable 'ready' of editor, which is 0 now"; into
 * `buffer`, which is returned. */
const char *live_loop_text(const struct argus_live *live, const struct argus_live_loop *loop,
                           char *buffer, size_t bytes);

/* The section of the text, for the thread that was sampled. */
void report_busy(const struct argus_sink *sink, const struct argus_live *live, uint32_t thread,
                 const struct argus_live_samples *samples);

/* Members of the JSON object. NULL is JSON's null. */
json_t *json_samples(const struct argus_live *live, uint32_t thread,
                     const struct argus_live_samples *samples);
json_t *json_loop(const struct argus_live *live, const struct argus_live_loop *loop);

#endif
