#include "linux/cpu_overload.h"

#include <stdio.h>
#include <unistd.h>

#include "linux/small_file.h"

bool cpu_overload_parse(const char *text, long cpu_count)
{
    long wanting;
    return sscanf(text, "%*f %*f %*f %ld/", &wanting) == 1 && wanting > cpu_count;
}

bool cpu_overload_now(void)
{
    char text[128];
    if (!small_file_read("/proc/loadavg", text, sizeof(text)))
        return false;
    return cpu_overload_parse(text, sysconf(_SC_NPROCESSORS_ONLN));
}
