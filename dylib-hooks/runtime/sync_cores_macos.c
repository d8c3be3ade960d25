/* macOS has no call that makes all cores see changed code: so hooks are installed only in a process
 * with one thread. */
#include "sync_cores.h"

bool sync_cores_prepare(void)
{
    return false;
}

void sync_cores(void)
{
}
