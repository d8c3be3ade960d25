/* The system call of a thread tells what it waits for. The table has a row for each call that can
 * wait long; the function of the row reads the arguments. Calls of one descriptor go on to what the
 * descriptor refers to (live_wait_fd.c). */
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "event/syscalls.h"
#include "live/live_calls.h"
#include "live/live_go.h"
#include "live/live_set.h"

enum { PATH_BYTES = 4096 };

static void in_ppoll(const struct live_call *call)
{
    call->wait->has_timeout = call->of->arg[2] != 0;
    live_wait_for_set(call->live, call->thread, call->wait);
}

static void in_epoll(const struct live_call *call)
{
    struct live_polled polled[LIVE_POLLED];
    struct argus_live_wait *wait = call->wait;
    wait->kind = ARGUS_LIVE_EVENTS;
    wait->fd = (uint32_t)call->of->arg[0];
    wait->has_timeout = (int32_t)call->of->arg[3] >= 0;
    wait->fd_count = live_set_of(call->live, call->thread, polled);
}

static void in_epoll_2(const struct live_call *call)
{
    in_epoll(call);
    call->wait->has_timeout = call->of->arg[3] != 0;
}

static void in_futex(const struct live_call *call)
{
    call->wait->has_timeout = call->of->arg[3] != 0;
    live_wait_in_futex(call->live, call->thread, call->wait);
}

/* io_uring and the older asynchronous I/O: any of the requests that the process has made. */
static void in_io(const struct live_call *call)
{
    call->wait->kind = ARGUS_LIVE_IO;
}

static void in_waitid(const struct live_call *call)
{
    call->wait->kind = ARGUS_LIVE_CHILD;
    if (call->of->arg[0] == P_PID) {
        call->wait->object = call->of->arg[1];
    } else if (call->of->arg[0] == P_PIDFD) {
        call->wait->fd = (uint32_t)call->of->arg[1];
        live_wait_for_fd(call->live, call->thread, call->wait);
    }
}

/* vfork() waits until the child executes a program or ends. */
static void in_clone(const struct live_call *call)
{
    if (strstr(call->of->wchan, "vfork") || strstr(call->of->wchan, "clone"))
        call->wait->kind = ARGUS_LIVE_CHILD;
}

static void in_fcntl(const struct live_call *call)
{
    if (call->of->arg[1] == F_SETLKW || call->of->arg[1] == F_OFD_SETLKW)
        live_in_flock(call);
}

/* A path in the process's memory. No address: an empty path (statx(2), since Linux 6.11). */
static bool read_path(const struct live_call *call, uint64_t address, char ret[PATH_BYTES])
{
    ret[0] = '\0';
    return !address ||
           live_memory_text(live_pid_of(call->live, call->thread), address, ret, PATH_BYTES);
}

/* A call with an empty path is for the descriptor itself. Any other path that is not absolute
 * begins at the folder of the descriptor: without that it leads nowhere. */
static void at_folder(const struct live_call *call, uint32_t fd, const char *path)
{
    struct live_fd folder;
    char text[2 * PATH_BYTES];
    bool is_known = live_fd(call->live, call->of->process, fd, &folder) && folder.path &&
                    strtab_get(call->live->texts, folder.path)[0] == '/';
    if (!path[0]) {
        call->wait->fd = fd;
        call->wait->text = is_known ? folder.path : 0;
    } else if (is_known) {
        snprintf(text, sizeof(text), "%s/%s", strtab_get(call->live->texts, folder.path), path);
        call->wait->text = live_text(call->live, text);
    }
}

/* Opening a FIFO waits for the other side; opening a file, for its lease: the kernel ends that after
 * some time (fs.lease-break-time). */
static void open_of(const struct live_call *call, uint64_t path, uint64_t flags)
{
    char text[PATH_BYTES];
    if (read_path(call, path, text))
        call->wait->text = live_text(call->live, text);
    if (strstr(call->of->wchan, "wait_for_partner") || strstr(call->of->wchan, "fifo_open")) {
        call->wait->kind = ARGUS_LIVE_FIFO_OPEN;
        call->wait->is_write = (flags & O_ACCMODE) == O_WRONLY;
    } else if (strstr(call->of->wchan, "break_lease")) {
        call->wait->kind = ARGUS_LIVE_FILE_LOCK;
        call->wait->has_timeout = true;
    }
}

static void in_open(const struct live_call *call)
{
    open_of(call, call->of->arg[0], call->of->arg[1]);
}

static void open_at(const struct live_call *call, uint64_t flags)
{
    char text[PATH_BYTES];
    int32_t fd = (int32_t)call->of->arg[0];
    open_of(call, call->of->arg[1], flags);
    if (fd == AT_FDCWD || !read_path(call, call->of->arg[1], text) || text[0] == '/')
        return;
    call->wait->text = 0;
    at_folder(call, (uint32_t)fd, text);
}

static void in_openat(const struct live_call *call)
{
    open_at(call, call->of->arg[2]);
}

static void in_path(const struct live_call *call)
{
    open_of(call, call->of->arg[0], 0);
}

static void in_path_at(const struct live_call *call)
{
    open_at(call, 0);
}

/* To add a call: a row. */
static const struct {
    const char *name;
    live_read_call *read;
} calls[] = {
    {"read", live_in_read},
    {"pread64", live_in_read},
    {"readv", live_in_read},
    {"preadv", live_in_read},
    {"preadv2", live_in_read},
    {"recvfrom", live_in_read},
    {"recvmsg", live_in_read},
    {"recvmmsg", live_in_read},
    {"accept", live_in_read},
    {"accept4", live_in_read},
    {"getdents64", live_in_read},
    {"fstat", live_in_read},
    {"write", live_in_write},
    {"pwrite64", live_in_write},
    {"writev", live_in_write},
    {"pwritev", live_in_write},
    {"pwritev2", live_in_write},
    {"sendto", live_in_write},
    {"sendmsg", live_in_write},
    {"sendmmsg", live_in_write},
    {"connect", live_in_write},
    {"fsync", live_in_write},
    {"fdatasync", live_in_write},
    {"ioctl", live_in_read},
    {"poll", live_in_poll},
    {"ppoll", in_ppoll},
    {"select", live_in_select},
    {"pselect6", live_in_select},
    {"epoll_wait", in_epoll},
    {"epoll_pwait", in_epoll},
    {"epoll_pwait2", in_epoll_2},
    {"futex", in_futex},
    {"io_uring_enter", in_io},
    {"io_getevents", in_io},
    {"nanosleep", live_in_sleep},
    {"clock_nanosleep", live_in_sleep},
    {"pause", live_in_signal},
    {"rt_sigsuspend", live_in_signal},
    {"rt_sigtimedwait", live_in_signal},
    {"wait4", live_in_wait4},
    {"waitid", in_waitid},
    {"vfork", in_clone},
    {"clone", in_clone},
    {"clone3", in_clone},
    {"flock", live_in_flock},
    {"fcntl", in_fcntl},
    {"open", in_open},
    {"openat", in_openat},
    {"stat", in_path},
    {"lstat", in_path},
    {"newfstatat", in_path_at},
    {"statx", in_path_at},
    {"access", in_path},
    {"truncate", in_path},
    {"mkdir", in_path},
    {"rmdir", in_path},
    {"unlink", in_path},
    {"rename", in_path},
    {"faccessat", in_path_at},
    {"faccessat2", in_path_at},
    {"mkdirat", in_path_at},
    {"unlinkat", in_path_at},
    {"renameat", in_path_at},
    {"renameat2", in_path_at},
    {"ftruncate", live_in_write},
};

#if defined(__aarch64__)
#define ARCH ARGUS_ARCH_AARCH64
#else
#define ARCH ARGUS_ARCH_X86_64
#endif

const char *argus_live_call_name(const struct argus_live_thread *thread)
{
    return thread->has_call ? syscall_row(ARGUS_OS_LINUX, ARCH, thread->call)->name : NULL;
}

static void by_call(struct argus_live *live, uint32_t thread, struct argus_live_wait *wait)
{
    const struct argus_live_thread of = live->threads.data[thread];
    const struct live_call call = {live, &of, thread, wait};
    const char *name = argus_live_call_name(&of);
    for (size_t i = 0; name && i < sizeof(calls) / sizeof(calls[0]); i++)
        if (strcmp(calls[i].name, name) == 0)
            calls[i].read(&call);
}

/* Kinds of waits in which a thread of a Go program can have nothing to run. */
static bool may_be_go(enum argus_live_kind kind)
{
    return kind == ARGUS_LIVE_FUTEX || kind == ARGUS_LIVE_EVENTS || kind == ARGUS_LIVE_SLEEP;
}

/* The state of a thread whose stop by its debugger is looked through. */
static char state_before_stop(const struct argus_live *live, const struct argus_live_thread *of)
{
    if (of->state != 't' || live->processes.data[of->process].pid != live->debugged_pid)
        return of->state;
    return of->has_call ? 'S' : 'R';
}

struct argus_live_wait live_wait(struct argus_live *live, uint32_t thread)
{
    const struct argus_live_thread *of = &live->threads.data[thread];
    const struct argus_live_process *process = &live->processes.data[of->process];
    struct argus_live_wait wait = {.kind = ARGUS_LIVE_OTHER, .fd = ARGUS_LIVE_NONE};
    char state = state_before_stop(live, of);
    if (process->frozen && state != 'Z' && state != 'X') {
        wait.kind = ARGUS_LIVE_FROZEN;
        wait.text = process->frozen;
        return wait;
    }
    switch (state) {
    case 'R':
        wait.kind = ARGUS_LIVE_RUNS;
        return wait;
    case 'T':
        wait.kind = ARGUS_LIVE_STOPPED;
        return wait;
    case 't':
        wait.kind = process->tracer_pid ? ARGUS_LIVE_TRACED : ARGUS_LIVE_STOPPED;
        return wait;
    case 'Z':
    case 'X':
        wait.kind = ARGUS_LIVE_ZOMBIE;
        return wait;
    default:
        break;
    }
    if (process->denied)
        wait.kind = ARGUS_LIVE_UNREADABLE;
    else
        by_call(live, thread, &wait);
    live_wait_in_kernel(live, thread, &wait);
    if (may_be_go(wait.kind) && live_go_is_idle(live, thread))
        wait = (struct argus_live_wait){.kind = ARGUS_LIVE_GOROUTINE, .fd = ARGUS_LIVE_NONE};
    return wait;
}
