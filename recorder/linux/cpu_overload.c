#include "linux/crowd.h"

#include <stdio.h>
#include <unistd.h>

#include "linux/small_file.h"

bool crowd_parse(const char *text, long cpu_count)
{
    long wanting;
    return sscanf(text, "%*f %*f %*f %ld/", &wanting) == 1 && wanting > cpu_count;
}

bool crowd_now(void)
{
    char text[128];
    if (!small_file_read("/proc/loadavg", text, sizeof(text)))
        return false;
    return crowd_parse(text, sysconf(_SC_NPROCESSORS_ONLN));
}
