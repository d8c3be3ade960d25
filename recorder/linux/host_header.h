/* The file header of a trace of this machine. */
#ifndef ARGUS_RECORDER_LINUX_HOST_HEADER_H
#define ARGUS_RECORDER_LINUX_HOST_HEADER_H

#include <stdint.h>

#include "argus/error.h"
#include "argus/trace.h"

/* As backend_header(): system, processor, clocks at this moment, boot id. */
struct argus_error *host_header(uint32_t cpu_count, struct argus_trace_header *ret);

/* How often the timer wheel turns. */
uint64_t host_tick_ns(void);

#endif
