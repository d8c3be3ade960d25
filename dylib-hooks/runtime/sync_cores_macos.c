/* macOS has no call that makes all cores see changed code: hooks are installed while there is one thread, or not at all. */
#include "sync_cores.h"

bool sync_cores_prepare(void)
{
    return false;
}

void sync_cores(void)
{
}
