#include "linux/host_header.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "server/clocks.h"

static void read_boot_id(uint8_t ret[16])
{
    char text[64] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (!file)
        return;
    if (fgets(text, sizeof(text), file)) {
        size_t digits = 0;
        for (const char *c = text; *c && digits < 32; c++) {
            const char *place = strchr("0123456789abcdef", *c);
            if (place) {
                unsigned value = (unsigned)(place - "0123456789abcdef");
                ret[digits / 2] = (uint8_t)(ret[digits / 2] << 4 | value);
                digits++;
            }
        }
    }
    fclose(file);
}

struct argus_error *host_header(uint32_t cpu_count, struct argus_trace_header *ret)
{
    struct utsname host;
    if (uname(&host) < 0)
        return argus_error_os(errno, "cannot ask the kernel for its name");
    *ret = (struct argus_trace_header)
    {
        .version_major = ARGUS_TRACE_VERSION_MAJOR, .version_minor = ARGUS_TRACE_VERSION_MINOR,
        .os = ARGUS_OS_LINUX,
#if defined(__aarch64__)
        .arch = ARGUS_ARCH_AARCH64,
#else
        .arch = ARGUS_ARCH_X86_64,
#endif
        .timebase_numer = 1, .timebase_denom = 1, .anchor_ticks = clock_ns(CLOCK_MONOTONIC),
        .anchor_wall_ns = clock_ns(CLOCK_REALTIME), .page_bytes = (uint32_t)sysconf(_SC_PAGESIZE),
        .cpu_count = cpu_count,
    };
    snprintf(ret->host, sizeof(ret->host), "%.20s %.80s %.20s", host.sysname, host.release,
             host.machine);
    read_boot_id(ret->boot_id);
    return NULL;
}

/* The coarse clocks advance by the tick (kernel/time/posix-timers.c, KTIME_LOW_RES). */
uint64_t host_tick_ns(void)
{
    struct timespec tick = {.tv_nsec = 4000000};
    clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
    return (uint64_t)tick.tv_nsec;
}
