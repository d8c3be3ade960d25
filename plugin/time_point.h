/* A moment of a trace as a person writes it. */
#ifndef ARGUS_PLUGIN_TIME_POINT_H
#define ARGUS_PLUGIN_TIME_POINT_H

#include "argus/trace.h"

/* Sets `*ret_from_ns` and `*ret_until_ns`, on the trace's clock, to the time that `text` means:
 *
 *   +1.5s, +20ms                   after the beginning of the trace
 *   14:32:10.5                     local time, on the day on which the trace begins, or on the next
 *                                  day if it would be before the beginning of the trace; all of the
 *                                  time that its last digit stands for, here a tenth of a second
 *   14:32:10, 14:32                all of that second, of that minute
 *   2026-11-23 14:32:10            also with T instead of the blank
 *   … Z, … +0100, … +01:00         with that offset from UTC, instead of local time
 *
 * Answers print times in these forms. A time before the trace means its beginning.
 */
struct argus_error *time_point_range(const struct argus_trace *trace, const char *text,
                                     uint64_t *ret_from_ns, uint64_t *ret_until_ns);

#endif
