#include "linux/online_cpus.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool online_cpus_parse(const char *text, uint32_t cpu_count, bool *ret)
{
    memset(ret, 0, cpu_count * sizeof(*ret));
    while (*text && *text != '\n') {
        char *end;
        unsigned long first = strtoul(text, &end, 10), last = first;
        if (end == text)
            return false;
        if (*end == '-') {
            text = end + 1;
            last = strtoul(text, &end, 10);
            if (end == text)
                return false;
        }
        for (unsigned long cpu = first; cpu <= last && cpu < cpu_count; cpu++)
            ret[cpu] = true;
        text = end + (*end == ',');
        if (*end && *end != ',' && *end != '\n')
            return false;
    }
    return true;
}

bool online_cpus_read(uint32_t cpu_count, bool *ret)
{
    char text[4096];
    int fd = open("/sys/devices/system/cpu/online", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t length = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (length <= 0)
        return false;
    text[length] = '\0';
    return online_cpus_parse(text, cpu_count, ret);
}
