/* Whose process it is, for the user who may not look into it. */
#ifndef ARGUS_BASE_PROCESS_OWNER_H
#define ARGUS_BASE_PROCESS_OWNER_H

#include <stdint.h>
#include <sys/types.h>

#include "argus/error.h"

/* "cannot watch process 4711 (editor): it belongs to root, and this is user 1000; run argus with sudo" (PERMISSION). `action` is
 * what cannot be done ("watch"), `uid` who wants it. */
struct argus_error *process_owner_error(const char *action, uint32_t pid, uid_t uid);

#endif
