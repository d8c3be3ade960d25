#include "server/commands.h"

#include <stdio.h>

#include "server/proc_stat.h"

/* When the child was started, if it counts; else 0. */
static uint64_t started_ns(uint32_t child, uint64_t since_ns)
{
    struct proc_stat stat;
    if (!proc_stat_read(child, child, &stat) || stat.state == 'Z' || stat.started_ns < since_ns)
        return 0;
    return proc_stat_in_foreground(&stat) ? 0 : stat.started_ns;
}

/* A kernel without CONFIG_PROC_CHILDREN has no such file. */
uint64_t process_command_since(uint32_t pid, uint64_t since_ns)
{
    char path[64];
    unsigned child;
    uint64_t first_ns = 0;
    snprintf(path, sizeof(path), "/proc/%u/task/%u/children", pid, pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    while (fscanf(file, "%u", &child) == 1) {
        uint64_t ns = started_ns(child, since_ns);
        first_ns = ns && (!first_ns || ns < first_ns) ? ns : first_ns;
    }
    fclose(file);
    return first_ns;
}
