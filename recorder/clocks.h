/* A clock of the system, in ns. CLOCK_MONOTONIC is the trace's on Linux. */
#ifndef ARGUS_RECORDER_CLOCKS_H
#define ARGUS_RECORDER_CLOCKS_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
