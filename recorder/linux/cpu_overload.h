/* Whether threads have to wait for a cpu. */
#ifndef ARGUS_RECORDER_LINUX_CROWD_H
#define ARGUS_RECORDER_LINUX_CROWD_H

#include <stdbool.h>

/* By the text of /proc/loadavg (proc(5)), "0.20 0.18 0.12 3/80 11206": whether more threads want to run at this moment,
 * the caller included, than the `cpu_count` cpus can. False for a text of another form. */
bool crowd_parse(const char *text, long cpu_count);
/* The same of this machine now. */
bool crowd_now(void);

#endif
