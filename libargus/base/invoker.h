/* The user who called sudo. */
#ifndef ARGUS_BASE_INVOKER_H
#define ARGUS_BASE_INVOKER_H

#include <stdbool.h>
#include <sys/types.h>

/* Gets that user, and the group. False: this process is not root, or was not called by sudo. */
bool invoker_get(uid_t *ret_uid, gid_t *ret_gid);

#endif
