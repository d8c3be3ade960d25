/* The processor has four registers that watch up to eight bytes each. They belong to a thread:
 * perf_event loads them when the thread is scheduled in. An event with `inherit` is copied, with
 * its BPF program, to each thread that the watched thread creates, before the new thread runs
 * (kernel/events/core.c, inherit_event()). So new threads are watched from their first instruction,
 * and each existing thread gets an event.
 *
 * Meanwhile threads are created and end. Threads created by a watched thread inherit the event.
 * Threads created earlier by a thread that was not yet watched are found by listing the threads
 * again until no new one appears. Such a thread may also have inherited an event, and is then
 * reported twice (bpf/flag.h drops the second report).
 *
 * A forked process has its own memory, so its copy of the flag is not watched. After an exec the
 * address belongs to other memory, so the kernel removes the breakpoint. Both need attributes that
 * Linux has since 5.13. On older kernels the BPF program ignores child processes, and hits after an
 * exec are dropped when the exec is noticed.
 *
 * How a hit can kill the process. The kernel sends SIGTRAP, for which a program without a debugger
 * has no handler, in two cases (arch/x86/kernel/traps.c, exc_debug_user(); hw_breakpoint.c,
 * hw_breakpoint_handler()): the exception comes with an empty DR6, which is taken for an icebp
 * instruction; or DR6 names a register for which this cpu has no event now, whose bit then stays
 * set. On bare hardware neither can happen, since the exception follows its access at once. The
 * first was seen in a guest of KVM: the signals had si_code TRAP_BRKPT, which stands for the empty
 * DR6, and came at one phase of the timer's tick. KVM before Linux 6.14 loaded its own, older copy
 * of DR6 after it had served the guest's timer in its fast path (arch/x86/kvm, vmx_vcpu_run()), so
 * that the guest's kernel reads nothing where the processor had written the register's number. Only
 * the host can fix that. The recorder does what it can: no event is disabled, modified or throttled
 * between the beginning and the end of a watch. tests/recorder/flags_lives.py counts hits and
 * deaths.
 */
#include "linux/flags/flag_threads.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>

#define MOST_LOOKS 20 /* listings of threads */

struct watch {
    struct bpf_program *program;
    const struct request_flag *wanted;
    uint64_t address;
};

static struct argus_error *refusal(const struct watch *watch, int failed)
{
    const struct request_flag *wanted = watch->wanted;
    switch (failed) {
    case ENOSPC:
        return argus_error_create(
            ARGUS_ERROR_USAGE,
            "no debug register of process %u is left: the processor has %d, and "
            "debuggers use the same ones",
            wanted->pid, FLAG_REGISTERS);
    case EINVAL:
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "the processor cannot watch %u bytes at 0x%llx", wanted->bytes,
                                  (unsigned long long)watch->address);
    case EOPNOTSUPP:
    case ENOENT:
    case ENODEV:
        return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                                  "this machine has no debug registers that perf_event can use");
    default:
        return argus_error_os(failed, "cannot watch the memory of process %u", wanted->pid);
    }
}

/* `modern`: use attributes that Linux has since 5.13. */
static int open_event(const struct watch *watch, uint32_t tid, bool modern)
{
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_BREAKPOINT,
        .size = sizeof(attributes),
        .bp_type = watch->wanted->access == FLAG_WRITES ? HW_BREAKPOINT_W : HW_BREAKPOINT_RW,
        .bp_addr = watch->address,
        .bp_len = watch->wanted->bytes,
        .sample_period = 1,
        .inherit = 1,
        .inherit_thread = modern,
        .remove_on_exec = modern,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    return (int)syscall(SYS_perf_event_open, &attributes, (pid_t)tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* ESRCH, and *ret_link NULL: the thread has ended. */
static int watch_thread(const struct watch *watch, uint32_t tid, struct bpf_link **ret_link)
{
    *ret_link = NULL;
    int fd = open_event(watch, tid, true);
    if (fd < 0 && (errno == EINVAL || errno == E2BIG))
        fd = open_event(watch, tid, false);
    if (fd < 0)
        return errno;
    *ret_link = bpf_program__attach_perf_event(watch->program, fd);
    if (*ret_link)
        return 0;
    int failed = errno;
    close(fd);
    return failed;
}

static bool is_watched(const struct flag_threads *threads, uint32_t tid)
{
    for (size_t i = 0; i < threads->threads.length; i++)
        if (threads->threads.data[i].tid == tid)
            return true;
    return false;
}

static struct argus_error *add_thread(const struct watch *watch, struct flag_threads *threads,
                                      uint32_t tid)
{
    struct watched_thread thread = {.tid = tid};
    int failed = watch_thread(watch, tid, &thread.link);
    if (failed && failed != ESRCH)
        return refusal(watch, failed);
    if (vec_push(&threads->threads, thread))
        return NULL;
    bpf_link__destroy(thread.link);
    return argus_error_memory();
}

static struct argus_error *add_new_threads(const struct watch *watch, struct flag_threads *threads,
                                           uint32_t *ret_found)
{
    char path[32];
    snprintf(path, sizeof(path), "/proc/%u/task", watch->wanted->pid);
    DIR *tasks = opendir(path);
    if (!tasks)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "there is no process %u",
                                  watch->wanted->pid);
    struct argus_error *error = NULL;
    struct dirent *entry;
    *ret_found = 0;
    while (!error && (entry = readdir(tasks))) {
        uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);
        if (!tid || is_watched(threads, tid))
            continue;
        error = add_thread(watch, threads, tid);
        ++*ret_found;
    }
    closedir(tasks);
    return error;
}

struct argus_error *flag_threads_attach(struct flag_threads *threads, struct bpf_program *program,
                                        const struct request_flag *wanted, uint64_t address)
{
    const struct watch watch = {program, wanted, address};
    uint32_t found = 1;
    struct argus_error *error = NULL;
    for (int i = 0; i < MOST_LOOKS && found && !error; i++)
        error = add_new_threads(&watch, threads, &found);
    return error;
}

void flag_threads_deinit(struct flag_threads *threads)
{
    for (size_t i = 0; i < threads->threads.length; i++)
        bpf_link__destroy(threads->threads.data[i].link);
    vec_deinit(&threads->threads);
}
