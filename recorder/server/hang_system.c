/* What the watch for hangs asks the operating system. */
#include "server/hang_watch.h"

#include <string.h>

#include "server/commands.h"
#include "server/proc_stat.h"
#include "server/windows.h"

/* Whether this is a shell that runs a command: it has given the terminal to a child. */
static bool gave_terminal(uint32_t pid, const struct proc_stat *process)
{
    struct proc_stat front;
    uint32_t group = process->terminal_group > 0 ? (uint32_t)process->terminal_group : 0;
    return group && process->terminal_group != process->group &&
           proc_stat_read(group, group, &front) && front.parent == (int)pid;
}

static bool look_in_proc(uint32_t pid, uint32_t tid, struct hang_sight *ret)
{
    struct proc_stat thread, process;
    if (!proc_stat_read(pid, tid, &thread) || !proc_stat_read(pid, pid, &process))
        return false;
    *ret = (struct hang_sight){.started_ns = process.started_ns,
                               .ran_ns = thread.ran_ns,
                               .wants_cpu = thread.state == 'R',
                               .in_foreground = proc_stat_in_foreground(&process),
                               .stopped = thread.state == 'T',
                               .excused = thread.state == 'T' || thread.state == 't' ||
                                          gave_terminal(pid, &process)};
    memcpy(ret->process, process.name, sizeof(process.name));
    enum proc_wait wait = proc_wait_read(pid, tid);
    ret->at_child = wait == PROC_WAIT_CHILD;
    ret->at_futex = wait == PROC_WAIT_FUTEX;
    return true;
}

const struct hang_system hang_system_proc = {
    .look = look_in_proc,
    .is_ready = poll_set_is_ready,
    .is_untaken = poll_set_is_untaken,
    .has_window = process_has_window,
    .works_for_windows = process_works_for_windows,
    .has_typed = process_has_typed,
    .has_display = poll_set_has_display,
    .has_terminal = poll_set_has_terminal,
    .has_untaken = process_has_untaken,
    .display_has_untaken = display_has_untaken,
    .place = proc_place_read,
    .command_since = process_command_since,
};
