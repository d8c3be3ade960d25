#include "base/own_path.h"

#include <stdint.h>
#ifdef __APPLE__
#include <mach-o/dyld.h>
#else
#include <unistd.h>
#endif

bool own_path(char *ret, size_t room)
{
#ifdef __APPLE__
    uint32_t bytes = (uint32_t)room;
    bool known = _NSGetExecutablePath(ret, &bytes) == 0;
    if (!known)
        ret[0] = '\0';
    return known;
#else
    ssize_t length = readlink("/proc/self/exe", ret, room - 1);
    ret[length > 0 ? length : 0] = '\0';
    return length > 0 && (size_t)length < room - 1;
#endif
}
