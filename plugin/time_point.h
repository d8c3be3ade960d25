/* A moment of a trace as a person writes it. */
#ifndef ARGUS_PLUGIN_TIME_POINT_H
#define ARGUS_PLUGIN_TIME_POINT_H

#include "argus/trace.h"

/* "+1.5s", "+20ms": after the beginning of the trace. "14:32:10.123456": UTC, on the day of the trace, or the next one
 * when that is before its beginning. "*ret" is ns of the trace clock. */
struct argus_error *time_point_parse(const struct argus_trace *trace, const char *text,
                                     uint64_t *ret);

#endif
