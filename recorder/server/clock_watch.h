/* Steps of the clocks: the machine was suspended, or the time was set. The trace's own clock
 * (CLOCK_MONOTONIC) stops in the first case and is not affected by the second, so records mark both
 * (docs/man/argus-trace.5.md). */
#ifndef ARGUS_RECORDER_CLOCK_WATCH_H
#define ARGUS_RECORDER_CLOCK_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "argus/record.h"
#include "base/vec.h"

struct clock_readings {
    uint64_t trace_ns; /* CLOCK_MONOTONIC */
    uint64_t boot_ns;  /* CLOCK_BOOTTIME: continues during suspend */
    uint64_t wall_ns;  /* CLOCK_REALTIME */
};

struct clock_watch {
    uint64_t boot_offset_ns, wall_offset_ns; /* to the trace clock, as last recorded; modulo 2^64 */
    VEC(struct argus_record) markers;        /* all so far */
};

struct clock_readings clock_read(void);

void clock_watch_init(struct clock_watch *watch, const struct clock_readings *now);
void clock_watch_deinit(struct clock_watch *watch);
/* Compares with the last call. Returns how many markers were appended to `markers`. */
size_t clock_watch_look(struct clock_watch *watch, const struct clock_readings *now);

#endif
