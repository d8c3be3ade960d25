#include "base/invoker.h"

#include <stdlib.h>
#include <unistd.h>

bool invoker_get(uid_t *ret_uid, gid_t *ret_gid)
{
    const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");
    if (geteuid() != 0 || !uid || !gid)
        return false;
    *ret_uid = (uid_t)strtoul(uid, NULL, 10);
    *ret_gid = (gid_t)strtoul(gid, NULL, 10);
    return true;
}
