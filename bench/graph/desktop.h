/* A synthetic trace with the statistics of a desktop: for measurements, not for diagnoses.
 *
 * 680 threads of 126 processes on 4 cpus, as in the Argus paper's largest trace. Event loops poll
 * and are woken by timers, devices and each other, mostly by a message; every wake-up leads to a
 * few system calls and another wait. The mix of records is similar to that of the desktop's own
 * processes in a recorded session of an editor (bench/recorder/editor_session.sh): `bench_graph.py
 * --statistics FILE` compares. The number of vertices follows the paper instead, and is about twice
 * that of the session, which has many system calls and few waits. The paper's trace had one vertex
 * for seven records (2.75 million for 19 million), without stacks of waits.
 */
#ifndef ARGUS_BENCH_DESKTOP_H
#define ARGUS_BENCH_DESKTOP_H

#include "argus/trace.h"

/* Writes about `records` records to `fd`. The same number gives the same trace. */
struct argus_error *desktop_write(int fd, uint64_t records);

#endif
