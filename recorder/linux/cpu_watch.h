/* Which cpus come online while a recording runs. What belongs to a cpu (samples, reports of mappings) ends when the kernel
 * switches that cpu off, and has to be opened again when it is back; raw tracepoints are not bound to cpus. */
#ifndef ARGUS_RECORDER_LINUX_CPU_WATCH_H
#define ARGUS_RECORDER_LINUX_CPU_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cpu_watch {
    uint32_t cpu_count;
    bool *online; /* at the last look; owned */
    uint64_t looked_ns;
};

/* False without memory. */
bool cpu_watch_init(struct cpu_watch *watch, uint32_t cpu_count);
void cpu_watch_deinit(struct cpu_watch *watch);
/* Looks at most once a second. Calls `came` for each cpu that is online and was not at the last look. */
void cpu_watch_look(struct cpu_watch *watch, void (*came)(void *context, uint32_t cpu),
                    void *context);

#endif
