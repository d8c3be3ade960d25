/* Containers: tracepoints and BPF use the process IDs of the initial pid namespace; getpid() and
 * usually /proc do not. */
#ifndef ARGUS_RECORDER_LINUX_PID_NAMESPACE_H
#define ARGUS_RECORDER_LINUX_PID_NAMESPACE_H

#include <stdbool.h>
#include <stdint.h>

/* The recorder is in a pid namespace of its own. */
bool pid_namespace_is_own(void);
/* /proc uses the same IDs as tracepoints: outside containers, and in a container with the host's
 * /proc. */
bool pid_namespace_fits_proc(void);
/* The id of this process in the first namespace; getpid() if unknown. Asks the kernel once. */
uint32_t pid_namespace_own_id(void);

/* The note for the trace; NULL: nothing is missing. */
const char *pid_namespace_note(void);

#endif
