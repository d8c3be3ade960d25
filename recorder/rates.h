/* Over which stretch of time `argus status` takes a rate. Right after the start there is none that means anything: the
 * recorder has just loaded its programs, and a few records lie microseconds apart. */
#ifndef ARGUS_RECORDER_RATES_H
#define ARGUS_RECORDER_RATES_H

#include <stdbool.h>
#include <stdint.h>

#define RATES_RECORDS_SPAN_NS 1000000000ull /* at least, unless the ring is full of newer records */
#define RATES_CPU_SPAN_NS     5000000000ull /* at least, for a share of the cpu */

/* The stretch that the newest records of a cpu stand for. `first_ns` is the time of the first of them; `all`: they are
 * all that this cpu has emitted since `started_ns`, so the stretch begins there. */
uint64_t rates_span_ns(uint64_t started_ns, uint64_t first_ns, bool all, uint64_t now_ns);

/* The share of one cpu that `cpu_ns` of cpu time are in `span_ns`. False: the span is too short to say. */
bool rates_cpu_share(uint64_t cpu_ns, uint64_t span_ns, double *ret);

#endif
