/* Which cpus are online: events of perf_event end when theirs goes, and have to be opened again when it comes back. */
#ifndef ARGUS_RECORDER_LINUX_ONLINE_CPUS_H
#define ARGUS_RECORDER_LINUX_ONLINE_CPUS_H

#include <stdbool.h>
#include <stdint.h>

/* Fills `ret` for `cpu_count` cpus; false when the kernel does not tell. */
bool online_cpus_read(uint32_t cpu_count, bool *ret);

/* The same from a text like "0-3,5\n"; false when it is none. */
bool online_cpus_parse(const char *text, uint32_t cpu_count, bool *ret);

#endif
