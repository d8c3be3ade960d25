/* The time span over which `argus status` computes a rate. Right after the start no rate is
 * meaningful: the recorder has just loaded its programs, and its few records are microseconds
 * apart. */
#ifndef ARGUS_RECORDER_RATES_H
#define ARGUS_RECORDER_RATES_H

#include <stdbool.h>
#include <stdint.h>

#define RATES_RECORDS_SPAN_NS 1000000000ull /* at least, unless the ring is full of newer records */
#define RATES_CPU_SPAN_NS     5000000000ull /* at least, for a share of the cpu */

/* The time span that the newest records of a CPU cover. `first_ns` is the time of the first of
 * them; `all`: they are all that this CPU has emitted, so the span begins at `started_ns`. */
uint64_t rates_span_ns(uint64_t started_ns, uint64_t first_ns, bool all, uint64_t now_ns);

/* The share of one CPU: `cpu_ns` of CPU time in `span_ns`. False: the span is too short. */
bool rates_cpu_share(uint64_t cpu_ns, uint64_t span_ns, double *ret);

#endif
