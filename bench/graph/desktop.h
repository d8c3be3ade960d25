/* A made-up trace with the statistics of a desktop: for measuring, not for diagnosing.
 *
 * 680 threads of 126 processes on 4 cpus, as in the Argus paper's largest trace. Event loops poll and are woken by timers,
 * devices and each other; every wake-up leads to a few system calls and another wait. About one record in ten
 * ends a vertex; in that trace it was one in seven (2.75 million vertices of 19 million records, without stacks of waits).
 */
#ifndef ARGUS_BENCH_DESKTOP_H
#define ARGUS_BENCH_DESKTOP_H

#include "argus/trace.h"

/* Writes about `records` records to `fd`. The same number gives the same trace. */
struct argus_error *desktop_write(int fd, uint64_t records);

#endif
