/* A moment of a trace as a person writes it. */
#ifndef ARGUS_PLUGIN_TIME_POINT_H
#define ARGUS_PLUGIN_TIME_POINT_H

#include "argus/trace.h"

/* Sets `*ret_from_ns` and `*ret_until_ns`, on the trace's clock, to what `text` means:
 *
 *   +1.5s, +20ms                   after the beginning of the trace
 *   14:32:10.5                     local time, on the day on which the trace begins, or on the next one when it would lie before that
 *   14:32:10                       all of that second
 *   2026-11-23 14:32:10            also with T in place of the blank
 *   … Z, … +0100, … +01:00         that distance from UTC, in place of local time
 *
 * These are the forms that answers print. What lies before the trace is its beginning. */
struct argus_error *time_point_range(const struct argus_trace *trace, const char *text,
                                     uint64_t *ret_from_ns, uint64_t *ret_until_ns);

/* The beginning of that. */
struct argus_error *time_point_parse(const struct argus_trace *trace, const char *text,
                                     uint64_t *ret);

#endif
