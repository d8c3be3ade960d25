#include <stddef.h>
#include <stdint.h>

#include "linux/cpu_watch.h"

#include <stdlib.h>

#include "linux/online_cpus.h"
#include "server/clocks.h"

#define LOOK_INTERVAL_NS 1000000000ull

bool cpu_watch_init(struct cpu_watch *watch, uint32_t cpu_count)
{
    /* two halves: the last state, and room for the next */
    *watch = (struct cpu_watch){.cpu_count = cpu_count,
                                .online = calloc(2 * (size_t)cpu_count, sizeof(bool)),
                                .looked_ns = clock_ns(CLOCK_MONOTONIC)};
    if (!watch->online)
        return false;
    online_cpus_read(cpu_count, watch->online);
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
    uint64_t now = clock_ns(CLOCK_MONOTONIC);
    bool *online = watch->online + watch->cpu_count;
    if (now - watch->looked_ns < LOOK_INTERVAL_NS)
        return;
    watch->looked_ns = now;
    if (!online_cpus_read(watch->cpu_count, online))
        return;
    for (uint32_t cpu = 0; cpu < watch->cpu_count; cpu++) {
        if (online[cpu] && !watch->online[cpu])
            came(context, cpu);
        watch->online[cpu] = online[cpu];
    }
}
