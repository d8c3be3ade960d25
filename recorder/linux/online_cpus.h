/* Which CPUs are online. An event of perf_event ends when its CPU goes offline, and must be opened
 * again when the CPU is back. */
#ifndef ARGUS_RECORDER_LINUX_ONLINE_CPUS_H
#define ARGUS_RECORDER_LINUX_ONLINE_CPUS_H

#include <stdbool.h>
#include <stdint.h>

/* Fills `ret` for `cpu_count` cpus; false if unknown. */
bool online_cpus_read(uint32_t cpu_count, bool *ret);

/* Parses a text like "0-3,5\n"; false if it has another form. */
bool online_cpus_parse(const char *text, uint32_t cpu_count, bool *ret);

#endif
