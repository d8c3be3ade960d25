/* Detects CPUs that come online during a recording. Per-CPU events (samples, reports of mappings)
 * end when the CPU goes offline, and must be opened again when it is back. Raw tracepoints are not
 * bound to CPUs. */
#ifndef ARGUS_RECORDER_LINUX_CPU_WATCH_H
#define ARGUS_RECORDER_LINUX_CPU_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cpu_watch {
    uint32_t cpu_count;
    bool *online; /* at the last check; owned */
    uint64_t looked_ns;
};

/* False without memory. */
bool cpu_watch_init(struct cpu_watch *watch, uint32_t cpu_count);
void cpu_watch_deinit(struct cpu_watch *watch);
/* Checks at most once a second. Calls `came` for each CPU that has come online since the last
 * check. */
void cpu_watch_look(struct cpu_watch *watch, void (*came)(void *context, uint32_t cpu),
                    void *context);

#endif
