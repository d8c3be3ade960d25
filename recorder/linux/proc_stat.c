#include "proc_stat.h"

#include <stdio.h>
#include <string.h>

#define PF_KTHREAD 0x00200000u

/* "tid (comm) state ppid pgrp session tty tpgid flags …"; comm may contain anything, also ')'. */
static bool parse(char *text, struct proc_stat *ret)
{
    unsigned flags;
    char *open = strchr(text, '('), *close = strrchr(text, ')');
    if (!open || !close || close < open ||
        sscanf(close + 1, " %c %d %d %*d %*d %d %u", &ret->state, &ret->parent, &ret->group,
               &ret->terminal_group, &flags) != 5)
        return false;
    *close = '\0';
    snprintf(ret->name, sizeof(ret->name), "%s", open + 1);
    ret->is_kernel = flags & PF_KTHREAD;
    return true;
}

bool proc_stat_read(uint32_t pid, uint32_t tid, struct proc_stat *ret)
{
    char path[64], text[1024];
    snprintf(path, sizeof(path), "/proc/%u/task/%u/stat", pid, tid);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    size_t bytes = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[bytes] = '\0';
    return parse(text, ret);
}
