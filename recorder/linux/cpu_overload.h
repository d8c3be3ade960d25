/* Whether threads have to wait for a CPU. */
#ifndef ARGUS_RECORDER_LINUX_CPU_OVERLOAD_H
#define ARGUS_RECORDER_LINUX_CPU_OVERLOAD_H

#include <stdbool.h>

/* Parses /proc/loadavg (proc(5)), "0.20 0.18 0.12 3/80 11206": whether more threads are runnable,
 * the caller included, than there are CPUs (`cpu_count`). False if the text has another form. */
bool cpu_overload_parse(const char *text, long cpu_count);
/* The same for this machine now. */
bool cpu_overload_now(void);

#endif
