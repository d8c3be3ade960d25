/* Samples of perf_event about threads: switches, wake-ups, system calls, creation, names and
 * end. */
#include <string.h>

#include <sys/syscall.h>

#include "linux/perf/perf_handlers.h"

#define CLONE_THREAD 0x00010000
#define CLONE_PARENT 0x00008000
#define KTHREADD     2 /* the parent of all kernel threads */

static const struct bpf_thread *thread_of(const struct translation *now, uint32_t tid)
{
    return seen_threads_find(now->translator->threads, tid);
}

/* --- scheduling --- */

/* include/trace/events/sched.h, __trace_sched_switch_state(): not the thread's state itself, but
 * one bit of it, or another bit if it was preempted. */
#define REPORT_PREEMPTED 0x100
#define REPORT_IDLE      0x80
#define REPORT_ENDED     0x30 /* EXIT_DEAD and EXIT_ZOMBIE */
#define STATE_IDLE       0x402

static uint64_t state_of_report(uint64_t report)
{
    if (report & REPORT_PREEMPTED)
        return ARGUS_LINUX_STATE_RUNNING;
    if (report & REPORT_ENDED)
        return ARGUS_LINUX_STATE_DEAD;
    return report == REPORT_IDLE ? STATE_IDLE : report;
}

static void remember_name(const struct translation *now, uint32_t tid, struct bpf_thread thread,
                          const char *name, size_t length)
{
    thread.seen_ns = now->sample->time_ns;
    thread.died_ns = 0;
    memset(thread.comm, 0, sizeof(thread.comm));
    memcpy(thread.comm, name, length < sizeof(thread.comm) ? length : sizeof(thread.comm) - 1);
    seen_threads_put(now->translator->threads, tid, &thread);
}

/* A thread that /proc did not list: hidden from the recorder, or in another pid namespace. */
static void learn_name(const struct translation *now)
{
    size_t length;
    const char *name = translation_text(now, 4, &length);
    if (now->tid != 0 && length > 0 && !thread_of(now, now->tid))
        remember_name(now, now->tid, (struct bpf_thread){.pid = now->sample->pid}, name, length);
}

void perf_on_switch(const struct translation *now)
{
    uint64_t state = state_of_report(translation_number(now, 0));
    if (!(state & ARGUS_LINUX_STATE_DEAD)) /* the thread was dropped at its end */
        learn_name(now);
    translation_emit(now, ARGUS_ID_SWITCH, state, (uint32_t)translation_number(now, 1),
                     (uint32_t)translation_number(now, 2), (uint32_t)translation_number(now, 3));
    if (!now->sample->frames || !state || state & ARGUS_LINUX_STATE_DEAD || translation_is_own(now))
        return;
    struct stack_ids stacks = translation_stacks(now);
    if (stacks.is_user_thread)
        translation_emit(now, ARGUS_ID_STACK, stacks.user, stacks.kernel, ARGUS_STACK_BLOCK, 0);
}

static void wake(const struct translation *now, bool is_new)
{
    uint32_t context = translation_context(now), wakee = (uint32_t)translation_number(now, 0);
    const struct bpf_thread *known = thread_of(now, wakee);
    if ((translation_is_own(now) && context == ARGUS_CONTEXT_TASK) ||
        (known && known->pid == now->translator->own_pid))
        return;
    translation_emit(now, ARGUS_ID_MAKE_RUNNABLE, wakee, (uint32_t)translation_number(now, 1),
                     is_new, context);
    if (!now->sample->frames || wakee == now->tid || (known && known->kernel))
        return;
    struct stack_ids stacks = translation_stacks(now);
    if (stacks.is_user_thread)
        translation_emit(now, ARGUS_ID_STACK, stacks.user, 0, ARGUS_STACK_WAKE, 0);
}

void perf_on_waking(const struct translation *now)
{
    wake(now, false);
}

void perf_on_wakeup_new(const struct translation *now)
{
    wake(now, true);
}

/* perf_event_tid() (kernel/events/core.c): the ID of a thread that has just given up its own. The
 * record of its end came before. */
#define TID_GONE UINT32_MAX

void perf_on_sample(const struct translation *now)
{
    if (now->tid == 0 || now->tid == TID_GONE || translation_is_own(now))
        return;
    struct stack_ids stacks = translation_stacks(now);
    translation_emit(now, ARGUS_ID_SAMPLE, stacks.user, stacks.kernel, now->sample->address, 0);
}

/* --- system calls --- */

#define X32_BIT 0x40000000

/* The number in the native table; a 32-bit program uses another table. perf_event does not pass the
 * operation and arguments of socketcall() and ipc(). False: no such call. */
static bool take_number(const struct translation *now, uint64_t *number)
{
    bool known = *number < X32_BIT;
    if (now->sample->is_32bit) {
        uint16_t row = *number < BPF_SYSCALLS ? now->translator->compat_calls[*number] : 0;
        known = row && !(row & ~COMPAT_NUMBER);
        *number = (row & COMPAT_NUMBER) - 1u;
    }
    now->translator->compat_skipped += !known;
    return known;
}

static uint64_t argument(const struct translation *now, size_t index)
{
    return event_field_element(&now->fields[1], index, now->sample->raw, now->sample->raw_bytes);
}

static bool has_more_arguments(const struct translation *now, uint64_t number)
{
    return number < BPF_SYSCALL_WORDS * 64 &&
           now->translator->long_syscalls[number / 64] >> number % 64 & 1;
}

/* A record of a hook in the program, as in bpf/hook.h. The end of its system call is recorded like
 * others here, because the tracepoint does not say which call ends. */
static void on_hook(const struct translation *now)
{
    uint64_t debugid = argument(now, 1), subclass = debugid >> 16;
    if (subclass == ARGUS_DEBUGID(ARGUS_CLASS, 3, 0) >> 16 ||
        subclass == ARGUS_DEBUGID(ARGUS_CLASS, 5, 0) >> 16)
        translation_emit(now, (uint32_t)debugid, argument(now, 2), argument(now, 3),
                         argument(now, 4), argument(now, 5));
}

void perf_on_sys_enter(const struct translation *now)
{
    uint64_t number = translation_number(now, 0);
    if (translation_is_own(now) || !take_number(now, &number))
        return;
    if (number == SYS_getpid && argument(now, 0) == ARGUS_HOOK_CALL) {
        on_hook(now);
        return;
    }
    translation_emit(now, ARGUS_ID_SYSCALL(number & 0x3fff) | ARGUS_FUNC_START, argument(now, 0),
                     argument(now, 1), argument(now, 2), argument(now, 3));
    if (has_more_arguments(now, number))
        translation_emit(now, ARGUS_ID_SYSCALL_MORE, number, argument(now, 4), argument(now, 5), 0);
}

void perf_on_sys_exit(const struct translation *now)
{
    uint64_t number = translation_number(now, 0);
    int64_t result = (int64_t)translation_number(now, 1);
    if (translation_is_own(now))
        return;
    if (number == UINT64_MAX) /* rt_sigreturn restores the registers of the interrupted code */
        number = SYS_rt_sigreturn;
    else if (!take_number(now, &number))
        return;
    uint64_t error_number = result < 0 && result >= -4095 ? (uint64_t)-result : 0;
    translation_emit(now, ARGUS_ID_SYSCALL(number & 0x3fff) | ARGUS_FUNC_END, error_number,
                     (uint64_t)result, 0, now->sample->pid);
}

/* --- life and names --- */

/* Comes just before sched_process_fork, which does not tell the process of the new thread. */
void perf_on_new_task(const struct translation *now)
{
    uint32_t tid = (uint32_t)translation_number(now, 0);
    uint64_t clone_flags = translation_number(now, 2);
    const struct bpf_thread *creator = thread_of(now, now->tid);
    bool is_thread = clone_flags & CLONE_THREAD;
    struct bpf_thread made = {
        .pid = is_thread ? now->sample->pid : tid,
        .parent_pid = now->sample->pid,
        .kernel = now->sample->pid == KTHREADD,
    };
    if (creator && (is_thread || clone_flags & CLONE_PARENT))
        made.parent_pid = creator->parent_pid;
    size_t length;
    const char *name = translation_text(now, 1, &length);
    translation_emit(now, ARGUS_ID_NEW_THREAD, tid, made.pid, !is_thread, made.parent_pid);
    translation_emit_name(now, now->tid, ARGUS_ID_NAME_NEW, name, length);
    remember_name(now, tid, made, name, length);
}

/* A thread that is not the main thread takes over the ID of the main thread, which has ended. */
void perf_on_exec(const struct translation *now)
{
    uint32_t old_tid = (uint32_t)translation_number(now, 1);
    size_t length;
    const char *path = translation_text(now, 0, &length), *name = path;
    for (size_t i = 0; i < length; i++) {
        if (path[i] == '/')
            name = path + i + 1;
    }
    length -= (size_t)(name - path);
    const struct bpf_thread *known = thread_of(now, now->tid);
    struct bpf_thread thread = known ? *known : (struct bpf_thread){.pid = now->sample->pid};
    thread.kernel = 0;
    if (old_tid != now->tid && old_tid != 0)
        seen_threads_end(now->translator->threads, old_tid, now->sample->time_ns);
    if (length >= BPF_COMM_BYTES)
        length = BPF_COMM_BYTES - 1;
    translation_emit(now, ARGUS_ID_EXEC, now->sample->pid, 0, 0, 0);
    translation_emit_name(now, now->tid, ARGUS_ID_NAME_EXEC, name, length);
    remember_name(now, now->tid, thread, name, length);
}

void perf_on_exit(const struct translation *now)
{
    bool is_last = seen_threads_end(now->translator->threads, now->tid, now->sample->time_ns);
    if (now->fields[0].bytes > 0) /* reported by the kernel since Linux 6.16 */
        is_last = translation_number(now, 0) != 0;
    translation_emit(now, ARGUS_ID_THREAD_EXIT, now->tid, is_last, 0, 0);
}

/* A thread may rename another thread of its process. */
void perf_on_rename(const struct translation *now)
{
    uint32_t tid = now->fields[1].bytes ? (uint32_t)translation_number(now, 1) : now->tid;
    size_t length;
    const char *name = translation_text(now, 0, &length);
    const struct bpf_thread *known = thread_of(now, tid);
    translation_emit_name(now, tid, ARGUS_ID_NAME_THREAD, name, length);
    remember_name(now, tid, known ? *known : (struct bpf_thread){.pid = now->sample->pid}, name,
                  length);
}
