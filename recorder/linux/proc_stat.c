#include "server/proc_stat.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

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

/* Reads the beginning of a file of the thread; false: it does not exist. */
static bool read_file(uint32_t pid, uint32_t tid, const char *name, size_t room, char *ret)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%u/task/%u/%s", pid, tid, name);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    size_t bytes = fread(ret, 1, room - 1, file);
    fclose(file);
    ret[bytes] = '\0';
    return true;
}

bool proc_stat_read(uint32_t pid, uint32_t tid, struct proc_stat *ret)
{
    char text[1024];
    return read_file(pid, tid, "stat", sizeof(text), text) && parse(text, ret);
}

enum proc_wait proc_wait_read(uint32_t pid, uint32_t tid)
{
    char text[256];
    long number;
    if (!read_file(pid, tid, "syscall", sizeof(text), text) || sscanf(text, "%ld", &number) != 1)
        return PROC_WAIT_OTHER;
    if (number == SYS_wait4 || number == SYS_waitid)
        return PROC_WAIT_CHILD;
    return number == SYS_futex ? PROC_WAIT_FUTEX : PROC_WAIT_OTHER;
}
