/* The kernel function of the timers behind CPU samples: its records are caused by the recorder. */
#ifndef ARGUS_RECORDER_LINUX_OWN_TIMER_H
#define ARGUS_RECORDER_LINUX_OWN_TIMER_H

#include "linux/perf/event_format.h"

/* `tracepoint`: the id of timer:hrtimer_start; `function`: its field of that name. 0 if unknown. */
uint64_t own_timer_function(uint32_t tracepoint, const struct event_field *function);

#endif
