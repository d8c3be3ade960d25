/* Containers: tracepoints and BPF count processes as the first pid namespace does; getpid() and, mostly, /proc do not. */
#ifndef ARGUS_RECORDER_LINUX_PID_NAMESPACE_H
#define ARGUS_RECORDER_LINUX_PID_NAMESPACE_H

#include <stdbool.h>
#include <stdint.h>

/* The recorder is in a pid namespace of its own. */
bool pid_namespace_is_own(void);
/* /proc counts as tracepoints do: outside of containers, and in one that has the host's /proc. */
bool pid_namespace_fits_proc(void);
/* The id of this process in the first namespace; getpid() when that cannot be found out. Asks the kernel once. */
uint32_t pid_namespace_own_id(void);

/* What the trace says about it; NULL: nothing is missing. */
const char *pid_namespace_note(void);

#endif
