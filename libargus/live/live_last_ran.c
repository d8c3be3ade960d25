/* When a thread that waits has run for the last time.
 *
 * The scheduler keeps that (se.exec_start in /proc/PID/task/TID/sched, in milliseconds), by a clock
 * of the CPU that does not count interrupts and time stolen by a hypervisor. So argus reads its own
 * figure on the same CPU: the difference is how long the thread has not run, or somewhat less. A
 * kernel without CONFIG_SCHED_DEBUG before Linux 6.15 does not tell. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live/live_data.h"
#include "live/live_images.h"

enum { SCHED_BYTES = 8192, STAT_BYTES = 1024, NS_OF_MS = 1000000 };

/* False: not known, or it never ran. */
static bool read_exec_start(const char *path, double *ret_ms)
{
    char text[SCHED_BYTES];
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = '\0';
    const char *line = strstr(text, "se.exec_start"), *colon = line ? strchr(line, ':') : NULL;
    *ret_ms = colon ? strtod(colon + 1, NULL) : 0;
    return *ret_ms > 0;
}

/* Field 39 of /proc/PID/stat (proc(5)): the CPU on which it ran last. */
static bool read_cpu(uint32_t pid, uint32_t tid, unsigned *ret)
{
    enum { FIELD = 39 };
    char text[STAT_BYTES];
    const char *at = live_stat_field(pid, tid, FIELD, text, sizeof(text));
    return at && sscanf(at, "%u", ret) == 1 && *ret < CPU_SETSIZE;
}

/* Lets argus run on the CPU for a moment. */
static struct live_clock read_clock(unsigned cpu)
{
    struct live_clock clock = {.cpu = cpu};
    cpu_set_t before, only;
    double now_ms;
    CPU_ZERO(&only);
    CPU_SET(cpu, &only);
    if (sched_getaffinity(0, sizeof(before), &before) != 0 ||
        sched_setaffinity(0, sizeof(only), &only) != 0)
        return clock;
    sched_yield(); /* brings the figure up to date */
    clock.is_known = read_exec_start("/proc/thread-self/sched", &now_ms);
    uint64_t now_ns = live_now_ns();
    clock.behind_ns = clock.is_known ? now_ns - (uint64_t)(now_ms * NS_OF_MS) : 0;
    sched_setaffinity(0, sizeof(before), &before);
    return clock;
}

static struct live_clock clock_of(struct argus_live *live, unsigned cpu)
{
    for (size_t i = 0; i < live->system->clocks.length; i++)
        if (live->system->clocks.data[i].cpu == cpu)
            return live->system->clocks.data[i];
    struct live_clock clock = read_clock(cpu);
    if (!vec_push(&live->system->clocks, clock))
        live->no_memory = true;
    return clock;
}

uint64_t live_last_ran_ns(struct argus_live *live, uint32_t thread)
{
    char path[64];
    double then_ms, again_ms;
    unsigned cpu;
    uint32_t pid = live_pid_of(live, thread), tid = live->threads.data[thread].tid;
    snprintf(path, sizeof(path), "/proc/%u/task/%u/sched", pid, tid);
    if (!read_exec_start(path, &then_ms) || !read_cpu(pid, tid, &cpu) ||
        !read_exec_start(path, &again_ms) || again_ms != then_ms)
        return 0;
    struct live_clock clock = clock_of(live, cpu);
    return clock.is_known ? (uint64_t)(then_ms * NS_OF_MS) + clock.behind_ns : 0;
}
