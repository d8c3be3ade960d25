#include "server/proc_stat.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PF_KTHREAD 0x00200000u
#define NS_PER_S   1000000000ull

static uint64_t clock_now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* The unit of times in proc(5). */
static uint64_t tick_ns(void)
{
    return NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK);
}

/* Since boot, with the time in which the machine was suspended, in the unit of proc(5). */
static uint64_t since_boot(unsigned long long ticks)
{
    uint64_t running_ns = clock_now_ns(CLOCK_MONOTONIC); /* first: it is the smaller one */
    uint64_t suspended_ns = clock_now_ns(CLOCK_BOOTTIME) - running_ns;
    uint64_t ns = ticks * tick_ns();
    return ns > suspended_ns ? ns - suspended_ns : 0;
}

/* "tid (comm) state ppid pgrp session tty tpgid flags …"; fields 14 and 15 are its cpu time, field
 * 22 is the time of its start. comm may contain anything, also ')'. */
static bool parse(char *text, struct proc_stat *ret)
{
    unsigned flags;
    unsigned long long ticks = 0, user = 0, system = 0;
    char *open = strchr(text, '('), *close = strrchr(text, ')');
    if (!open || !close || close < open ||
        sscanf(close + 1,
               " %c %d %d %d %*d %d %u %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d %*d %*d %llu",
               &ret->state, &ret->parent, &ret->group, &ret->session, &ret->terminal_group, &flags,
               &user, &system, &ticks) < 6)
        return false;
    ret->started_ticks = ticks;
    ret->started_ns = since_boot(ticks);
    ret->ran_ns = (user + system) * tick_ns();
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

/* "NUMBER ARGUMENT… SP PC", or "-1 SP PC", or "running". */
bool proc_place_read(uint32_t pid, uint32_t tid, struct proc_place *ret)
{
    char text[256];
    unsigned long long first, sp;
    *ret = (struct proc_place){.number = -1};
    if (!read_file(pid, tid, "syscall", sizeof(text), text) || !text[0])
        return false;
    long number;
    if (sscanf(text, "%ld %llx %*s %*s %*s %*s %*s %llx", &number, &first, &sp) == 3)
        *ret = (struct proc_place){number, first, sp};
    return true;
}
