#include "linux/online_cpus.h"

#include <stdlib.h>
#include <string.h>

#include "linux/small_file.h"

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
    if (!small_file_read("/sys/devices/system/cpu/online", text, sizeof(text)))
        return false;
    return online_cpus_parse(text, cpu_count, ret);
}
