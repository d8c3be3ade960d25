/* Clocks of the system, in ns. */
#ifndef ARGUS_RECORDER_CLOCKS_H
#define ARGUS_RECORDER_CLOCKS_H

#include <stdint.h>
#include <time.h>

/* TRACE_CLOCK stops while the machine is suspended, BOOT_CLOCK does not. */
#ifdef __APPLE__
#define TRACE_CLOCK CLOCK_UPTIME_RAW /* mach_absolute_time() */
#define BOOT_CLOCK  CLOCK_MONOTONIC_RAW
#else
#define TRACE_CLOCK CLOCK_MONOTONIC
#define BOOT_CLOCK  CLOCK_BOOTTIME
#endif

static inline uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
