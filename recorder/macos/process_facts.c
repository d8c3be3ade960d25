/* proc_stat.h, poll_set.h and commands.h on macOS. */
#include "server/commands.h"
#include "server/poll_set.h"
#include "server/proc_stat.h"
#include "server/windows.h"

#include <libproc.h>
#include <stdio.h>

/* SIDL … SZOMB of <sys/proc.h>, in Linux's letters. */
static const char states[] = "?IRSTZ";

bool proc_stat_read(uint32_t pid, uint32_t tid, struct proc_stat *ret)
{
    (void)tid; /* this information is per process */
    struct proc_bsdinfo info;
    if (proc_pidinfo((int)pid, PROC_PIDTBSDINFO, 0, &info, sizeof(info)) != (int)sizeof(info))
        return false;
    *ret = (struct proc_stat){
        .state = info.pbi_status < sizeof(states) - 1 ? states[info.pbi_status] : '?',
        .parent = (int)info.pbi_ppid,
        .group = (int)info.pbi_pgid,
        .terminal_group = info.e_tpgid ? (int)info.e_tpgid : -1,
    };
    snprintf(ret->name, sizeof(ret->name), "%s", info.pbi_comm);
    return true;
}

enum proc_wait proc_wait_read(uint32_t pid, uint32_t tid)
{
    (void)pid, (void)tid;
    return PROC_WAIT_OTHER;
}

bool proc_place_read(uint32_t pid, uint32_t tid, struct proc_place *ret)
{
    (void)pid, (void)tid, (void)ret;
    return false;
}

uint64_t process_command_since(uint32_t pid, uint64_t since_ns)
{
    (void)pid, (void)since_ns;
    return 0;
}

bool process_has_window(uint32_t pid)
{
    (void)pid;
    return true;
}

bool process_works_for_windows(uint32_t pid)
{
    (void)pid;
    return false;
}

bool process_has_typed(uint32_t pid)
{
    (void)pid;
    return false;
}

bool poll_set_has_terminal(const struct poll_set *set, uint32_t pid)
{
    (void)set, (void)pid;
    return false;
}

bool poll_set_has_display(const struct poll_set *set, uint32_t pid)
{
    (void)set, (void)pid;
    return false;
}

bool process_has_untaken(uint32_t pid)
{
    (void)pid;
    return false;
}

bool display_has_untaken(uint32_t pid)
{
    (void)pid;
    return false;
}

bool poll_set_is_untaken(const struct poll_set *set, uint32_t pid)
{
    (void)set, (void)pid;
    return false;
}

/* Poll sets are unknown here (kdebug_pollers.c), and no descriptor can be duplicated from another
 * process. */
bool poll_set_is_ready(const struct poll_set *set, uint32_t pid)
{
    (void)set;
    (void)pid;
    return false;
}
