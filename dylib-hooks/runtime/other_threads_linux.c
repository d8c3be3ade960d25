#include "other_threads.h"

#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* SIGTRAP in "SigBlk:" of a thread's status. A thread that has just ended blocks nothing. */
static bool blocks_traps(const char *tid)
{
    char path[64], line[256];
    bool blocks = false;
    snprintf(path, sizeof(path), "/proc/self/task/%.16s/status", tid);
    FILE *status = fopen(path, "re");
    while (status && fgets(line, sizeof(line), status))
        if (strncmp(line, "SigBlk:", 7) == 0)
            blocks = strtoull(line + 7, NULL, 16) >> (SIGTRAP - 1) & 1;
    if (status)
        fclose(status);
    return blocks;
}

struct threads_seen threads_look(void)
{
    struct threads_seen seen = {0};
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *entry; tasks && (entry = readdir(tasks)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        seen.count++;
        if (strtol(entry->d_name, NULL, 10) != gettid())
            seen.blocks_traps |= blocks_traps(entry->d_name);
    }
    if (tasks)
        closedir(tasks);
    return seen;
}
