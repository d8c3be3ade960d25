/* The file format that the hooks of -finstrument-functions write (truth_hooks.c) and coverage_bench
 * reads: one file per thread, PID-TID.truth in the folder $ARGUS_TRUTH, an array of these events in
 * time order. A zero entry ends it. */
#ifndef ARGUS_BENCH_TRUTH_EVENT_H
#define ARGUS_BENCH_TRUTH_EVENT_H

#include <stdint.h>

#define TRUTH_FOLDER     "ARGUS_TRUTH"
#define TRUTH_EVENTS_MAX (1u << 26) /* of a thread; the file is sparse */

struct truth_event {
    uint64_t time_ns_and_exit; /* CLOCK_MONOTONIC << 1 | whether the function returns */
    uint64_t function;         /* its address in the process */
};

#endif
