/* The error for a user who may not inspect a process, which names the process's owner. */
#ifndef ARGUS_BASE_PROCESS_OWNER_H
#define ARGUS_BASE_PROCESS_OWNER_H

#include <stdint.h>
#include <sys/types.h>

#include "argus/error.h"

/* "cannot watch process 4711 (editor): it belongs to root, and this is user 1000; run argus with
 * sudo" (PERMISSION). `action` is what failed ("watch"), `uid` the user. */
struct argus_error *process_owner_error(const char *action, uint32_t pid, uid_t uid);
/* The same error, unless the process belongs to `uid` or that is root. A process that has gained
 * rights, also if it gave them up again, or lets nobody inspect it (PR_SET_DUMPABLE), counts as one
 * of root (proc(5), /proc/PID). NOT_FOUND: no process. */
struct argus_error *process_check_owner(const char *action, uint32_t pid, uid_t uid);

#endif
