#include <stddef.h>
#include <stdint.h>

#include "linux/cpu_watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOK_INTERVAL_NS 1000000000ull

void cpu_list_parse(const char *text, bool *ret_online, uint32_t cpu_count)
{
    memset(ret_online, 0, cpu_count * sizeof(*ret_online));
    while (*text) {
        char *end;
        unsigned long first = strtoul(text, &end, 10), last = first;
        if (end == text)
            return;
        if (*end == '-')
            last = strtoul(end + 1, &end, 10);
        for (unsigned long cpu = first; cpu <= last && cpu < cpu_count; cpu++)
            ret_online[cpu] = true;
        text = *end == ',' ? end + 1 : end + strlen(end);
    }
}

/* False when the kernel does not say. */
static bool read_online(bool *ret_online, uint32_t cpu_count)
{
    char text[4096];
    FILE *file = fopen("/sys/devices/system/cpu/online", "re");
    if (!file)
        return false;
    bool good = fgets(text, sizeof(text), file) != NULL;
    fclose(file);
    if (good)
        cpu_list_parse(text, ret_online, cpu_count);
    return good;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool cpu_watch_init(struct cpu_watch *watch, uint32_t cpu_count)
{
    /* twice: what is, and room for a look */
    *watch = (struct cpu_watch){.cpu_count = cpu_count,
                                .online = calloc(2 * (size_t)cpu_count, sizeof(bool)),
                                .looked_ns = now_ns()};
    if (!watch->online)
        return false;
    read_online(watch->online, cpu_count);
    return true;
}

void cpu_watch_deinit(struct cpu_watch *watch)
{
    free(watch->online);
    watch->online = NULL;
}

void cpu_watch_look(struct cpu_watch *watch, void (*came)(void *context, uint32_t cpu),
                    void *context)
{
    uint64_t now = now_ns();
    bool *online = watch->online + watch->cpu_count;
    if (now - watch->looked_ns < LOOK_INTERVAL_NS)
        return;
    watch->looked_ns = now;
    if (!read_online(online, watch->cpu_count))
        return;
    for (uint32_t cpu = 0; cpu < watch->cpu_count; cpu++) {
        if (online[cpu] && !watch->online[cpu])
            came(context, cpu);
        watch->online[cpu] = online[cpu];
    }
}
