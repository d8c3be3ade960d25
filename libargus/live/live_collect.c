/* Processes and threads out of /proc. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/utf8.h"
#include "live/live_data.h"
#include "live/live_images.h"

enum { SMALL_FILE_BYTES = 4096, NAME_BYTES = 64 };

/* /proc/PID/stat: the name is in parentheses and may contain any character. */
static bool parse_stat(const char *text, char name[16], char *ret_state, uint32_t *ret_parent)
{
    const char *open = strchr(text, '('), *close = strrchr(text, ')');
    if (!open || !close || close < open || close[1] != ' ')
        return false;
    snprintf(name, 16, "%.*s", (int)(close - open - 1), open + 1);
    utf8_repair_name(name, strlen(name));
    *ret_state = close[2];
    *ret_parent = (uint32_t)strtoul(close + 3, NULL, 10);
    return true;
}

/* "running", "-1 SP PC" (it waits, but in no system call) or "NR ARG… SP PC". */
static void parse_call(const char *text, struct argus_live_thread *thread)
{
    uint64_t *arg = thread->arg;
    int number;
    if (sscanf(text,
               "%d 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64
               " 0x%" SCNx64 " 0x%" SCNx64,
               &number, &arg[0], &arg[1], &arg[2], &arg[3], &arg[4], &arg[5], &thread->sp,
               &thread->pc) == 9 &&
        number >= 0) {
        thread->has_call = true;
        thread->call = (uint32_t)number;
    } else if (sscanf(text, "-1 0x%" SCNx64 " 0x%" SCNx64, &thread->sp, &thread->pc) != 2) {
        thread->sp = thread->pc = 0;
    }
}

/* A call with a time-out that a signal or a debugger interrupted goes on as restart_syscall(), with
 * the old arguments: the kernel's function tells which call it was. Only poll(), futex() and sleeps
 * are restarted so (restart_block in the kernel); that of a sleep has no name of its own in wchan.
 */
static void see_through_restart(struct argus_live_thread *thread)
{
    static const struct {
        const char *function;
        uint32_t call;
    } rows[] = {
#if defined(SYS_poll)
        {"poll_schedule_timeout", SYS_poll},
#endif
        {"futex", SYS_futex},
        {"", SYS_clock_nanosleep},
    };
    bool is_restarted = thread->has_call && thread->call == SYS_restart_syscall && thread->wchan[0];
    for (size_t i = 0; is_restarted && thread->call == SYS_restart_syscall; i++)
        if (strncmp(thread->wchan, rows[i].function, strlen(rows[i].function)) == 0)
            thread->call = rows[i].call;
}

static bool read_thread(struct argus_live_process *process, uint32_t tid,
                        struct argus_live_thread *ret)
{
    char name[48], text[SMALL_FILE_BYTES];
    uint32_t parent;
    snprintf(name, sizeof(name), "task/%u/stat", tid);
    if (live_read(process->pid, name, text, sizeof(text)) <= 0 ||
        !parse_stat(text, ret->name, &ret->state, &parent))
        return false;
    ret->tid = tid;
    if (tid == process->pid)
        process->parent_pid = parent;
    snprintf(name, sizeof(name), "task/%u/wchan", tid);
    live_read(process->pid, name, ret->wchan, sizeof(ret->wchan));
    if (strcmp(ret->wchan, "0") == 0)
        ret->wchan[0] = '\0';
    snprintf(name, sizeof(name), "task/%u/syscall", tid);
    if (live_read(process->pid, name, text, sizeof(text)) < 0 &&
        (errno == EACCES || errno == EPERM))
        process->denied =
            process->uid != geteuid() ? ARGUS_LIVE_DENIED_OWNER : ARGUS_LIVE_DENIED_PTRACE;
    else
        parse_call(text, ret);
    see_through_restart(ret);
#if defined(__x86_64__)
    if (ret->sp && ret->sp <= UINT32_MAX && ret->pc <= UINT32_MAX)
        process->denied = ARGUS_LIVE_DENIED_32_BIT;
#endif
    return true;
}

static void read_threads(struct argus_live *live, uint32_t index)
{
    struct argus_live_process *process = &live->processes.data[index];
    char path[48];
    snprintf(path, sizeof(path), "/proc/%u/task", process->pid);
    DIR *folder = opendir(path);
    struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        struct argus_live_thread thread = {.process = index};
        if (!isdigit((unsigned char)entry->d_name[0]) ||
            !read_thread(process, (uint32_t)strtoul(entry->d_name, NULL, 10), &thread))
            continue;
        if (!vec_push(&live->threads, thread))
            live->no_memory = true;
        else
            process->thread_count++;
    }
    if (folder)
        closedir(folder);
}

/* A program that overwrites its arguments leaves one text with blanks, which is no path. */
static uint32_t read_title(struct argus_live *live, uint32_t pid)
{
    char text[SMALL_FILE_BYTES];
    ssize_t length = live_read(pid, "cmdline", text, sizeof(text));
    size_t first = strlen(text);
    if (length <= 0 || text[0] == '/' || !strchr(text, ' '))
        return 0;
    for (size_t i = first; i < (size_t)length; i++)
        if (text[i])
            return 0;
    while (first && text[first - 1] == ' ')
        text[--first] = '\0';
    utf8_repair_name(text, first);
    return live_text(live, text);
}

bool live_load(struct argus_live *live, uint32_t index)
{
    struct argus_live_process *process = &live->processes.data[index];
    char text[SMALL_FILE_BYTES];
    uint64_t number;
    if (process->thread_count)
        return true;
    if (live_read(process->pid, "status", text, sizeof(text)) <= 0)
        return false;
    if (live_field(text, "Uid:", 10, &number))
        process->uid = (uint32_t)number;
    if (live_field(text, "TracerPid:", 10, &number))
        process->tracer_pid = (uint32_t)number;
    process->title = read_title(live, process->pid);
    process->frozen = live_frozen_group(live, process->pid);
    process->first_thread = (uint32_t)live->threads.length;
    read_threads(live, index);
    if (process->thread_count)
        memcpy(process->name, live->threads.data[process->first_thread].name,
               sizeof(process->name));
    return process->thread_count > 0;
}

/* /proc/TID exists for every thread, though readdir() lists only the main ones. */
uint32_t live_thread_of_tid(struct argus_live *live, uint32_t tid)
{
    char text[SMALL_FILE_BYTES];
    uint64_t pid;
    if (!tid || live_read(tid, "status", text, sizeof(text)) <= 0 ||
        !live_field(text, "Tgid:", 10, &pid))
        return ARGUS_LIVE_NONE;
    return live_thread_in(live, live_process(live, (uint32_t)pid), tid);
}

uint32_t live_parent_of(struct argus_live *live, uint32_t process)
{
    char text[SMALL_FILE_BYTES], name[16], state;
    struct argus_live_process *of = &live->processes.data[process];
    if (!of->parent_pid && live_read(of->pid, "stat", text, sizeof(text)) > 0)
        parse_stat(text, name, &state, &of->parent_pid);
    return of->parent_pid;
}

static bool look_at_program(const struct argus_live *live, uint32_t process, struct statx *ret)
{
    char path[48];
    snprintf(path, sizeof(path), "/proc/%u/exe", live->processes.data[process].pid);
    return statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_INO, ret) == 0;
}

bool live_has_same_program(const struct argus_live *live, uint32_t process, uint32_t other)
{
    struct statx of, of_other;
    return look_at_program(live, process, &of) && look_at_program(live, other, &of_other) &&
           of.stx_ino == of_other.stx_ino && of.stx_dev_major == of_other.stx_dev_major &&
           of.stx_dev_minor == of_other.stx_dev_minor;
}

bool live_is_still_there(const struct argus_live *live, uint32_t thread)
{
    const struct argus_live_thread *was = &live->threads.data[thread];
    struct argus_live_process process = live->processes.data[was->process];
    struct argus_live_thread now = {0};
    if (!read_thread(&process, was->tid, &now))
        return false;
    return now.has_call == was->has_call && now.call == was->call &&
           memcmp(now.arg, was->arg, sizeof(now.arg)) == 0 && now.sp == was->sp;
}

void live_read_again(struct argus_live *live, uint32_t thread)
{
    const struct argus_live_thread was = live->threads.data[thread];
    struct argus_live_thread now = {.process = was.process};
    if (read_thread(&live->processes.data[was.process], was.tid, &now))
        live->threads.data[thread] = now;
}

/* /proc/PID/task/TID/schedstat: time on a CPU, time in which it wanted one, … (since the start). */
void live_run_time(const struct argus_live *live, uint32_t thread, uint64_t *ret_ran,
                   uint64_t *ret_wanted)
{
    char name[48], text[128];
    *ret_ran = *ret_wanted = 0;
    snprintf(name, sizeof(name), "task/%u/schedstat", live->threads.data[thread].tid);
    if (live_read(live_pid_of(live, thread), name, text, sizeof(text)) > 0 &&
        sscanf(text, "%" SCNu64 " %" SCNu64, ret_ran, ret_wanted) != 2)
        *ret_ran = *ret_wanted = 0;
}

void live_settle(struct argus_live *live, uint32_t thread)
{
    enum { LOOKS = 12, PAUSE_US = 2000 };
    const struct argus_live_thread was = live->threads.data[thread];
    struct argus_live_thread waiting = {.tid = 0};
    uint64_t begin = live_now_ns(), ran, wanted, ran_then, wanted_then;
    live_run_time(live, thread, &ran, &wanted);
    for (int i = 0; was.state == 'R' && i < LOOKS; i++) {
        struct argus_live_thread now = {.process = was.process};
        usleep(PAUSE_US);
        if (read_thread(&live->processes.data[was.process], was.tid, &now) && now.has_call &&
            now.state == 'S')
            waiting = now;
    }
    live_run_time(live, thread, &ran_then, &wanted_then);
    if (waiting.tid && 2 * (ran_then - ran + wanted_then - wanted) < live_now_ns() - begin)
        live->threads.data[thread] = waiting;
}

/* Without argus itself, which inherits descriptors of the processes that it looks at. */
struct argus_error *live_read_processes(struct argus_live *live)
{
    DIR *folder = opendir("/proc");
    struct dirent *entry;
    live->system = calloc(1, sizeof(*live->system));
    live->no_memory |= !live->system;
    if (!folder)
        return argus_error_os(errno, "cannot read /proc");
    while ((entry = readdir(folder))) {
        if (!isdigit((unsigned char)entry->d_name[0]) ||
            strtoul(entry->d_name, NULL, 10) == (unsigned long)getpid())
            continue;
        struct argus_live_process process = {.pid = (uint32_t)strtoul(entry->d_name, NULL, 10)};
        if (!idmap_put(&live->by_pid, process.pid, (uint32_t)live->processes.length) ||
            !vec_push(&live->processes, process))
            live->no_memory = true;
    }
    closedir(folder);
    return live->no_memory ? argus_error_memory() : NULL;
}

bool live_has_name(const struct argus_live *live, uint32_t process, const char *name)
{
    char comm[NAME_BYTES];
    if (live_read(live->processes.data[process].pid, "comm", comm, sizeof(comm)) <= 0)
        return false;
    comm[strcspn(comm, "\n")] = '\0';
    /* the kernel keeps 15 characters */
    return strncmp(comm, name, 15) == 0 && (strlen(comm) == 15 || strcmp(comm, name) == 0);
}

uint64_t live_moves(const struct argus_live *live, uint32_t thread)
{
    char text[SMALL_FILE_BYTES], name[48];
    uint64_t switches = 0;
    snprintf(name, sizeof(name), "task/%u/status", live->threads.data[thread].tid);
    if (live_read(live_pid_of(live, thread), name, text, sizeof(text)) > 0)
        live_field(text, "voluntary_ctxt_switches:", 10, &switches);
    return switches;
}

bool live_is_kernels(struct argus_live *live, uint32_t process)
{
    enum { KTHREADD = 2 };
    return live->processes.data[process].pid == KTHREADD ||
           live_parent_of(live, process) == KTHREADD;
}

void live_system_close(struct argus_live *live)
{
    if (!live->system)
        return;
    live_stacks_deinit(&live->system->stacks);
    vec_deinit(&live->system->devices);
    vec_deinit(&live->system->clocks);
    free(live->system);
}
