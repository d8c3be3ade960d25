/* The tracepoints that perf_event offers, and the records that they become.
 *
 * perf_event hands out what a tracepoint says in its own bytes, and no more: numbers and names, but no kernel objects. So what
 * the BPF programs look up behind a pointer is missing here (objects, messages, words of a lock), and said
 * once, by the backend. One thing is easier: every sample says in which context it was taken (common_flags).
 */
#include <string.h>

#include <sys/syscall.h>

#include "linux/perf_translate.h"

/* include/linux/trace_events.h, enum trace_flag_type: the same since Linux 2.6.27. */
#define FLAG_HARDIRQ 0x08
#define FLAG_SOFTIRQ 0x10
#define FLAG_NMI     0x40
#define IN_TASK      "!(common_flags & 88)"
#define NOT_IN_TASK  "common_flags & 88"

#define CLONE_THREAD 0x00010000
#define CLONE_PARENT 0x00008000
#define KTHREADD     2 /* the parent of all kernel threads */

static uint32_t context_of(const struct translation *now)
{
    if (now->flags & FLAG_NMI)
        return ARGUS_CONTEXT_NMI;
    if (now->flags & FLAG_HARDIRQ)
        return ARGUS_CONTEXT_HARDIRQ;
    return now->flags & FLAG_SOFTIRQ ? ARGUS_CONTEXT_SOFTIRQ : ARGUS_CONTEXT_TASK;
}

static bool is_own(const struct translation *now)
{
    return now->sample->pid == now->translator->own_pid;
}

static const struct bpf_thread *thread_of(const struct translation *now, uint32_t tid)
{
    return seen_threads_find(now->translator->threads, tid);
}

/* --- scheduling --- */

/* include/trace/events/sched.h, __trace_sched_switch_state(): not the thread's state itself, but one bit of it, or
 * another when it was preempted. */
#define REPORT_PREEMPTED 0x100
#define REPORT_IDLE      0x80
#define REPORT_ENDED     0x30 /* EXIT_DEAD and EXIT_ZOMBIE */
#define STATE_IDLE       0x402
#define BLOCKS           "prev_state != 0 && prev_state != 256 && prev_pid != 0"
#define DOES_NOT_BLOCK   "prev_state == 0 || prev_state == 256 || prev_pid == 0"

static uint64_t state_of_report(uint64_t report)
{
    if (report & REPORT_PREEMPTED)
        return ARGUS_LINUX_STATE_RUNNING;
    if (report & REPORT_ENDED)
        return ARGUS_LINUX_STATE_DEAD;
    return report == REPORT_IDLE ? STATE_IDLE : report;
}

static void on_switch(const struct translation *now)
{
    uint64_t state = state_of_report(translation_number(now, 0));
    translation_emit(now, ARGUS_ID_SWITCH, state, (uint32_t)translation_number(now, 1),
                     (uint32_t)translation_number(now, 2), (uint32_t)translation_number(now, 3));
    if (!now->sample->frames || !state || state & ARGUS_LINUX_STATE_DEAD || is_own(now))
        return;
    struct stack_ids stacks = translation_stacks(now);
    if (stacks.is_user_thread)
        translation_emit(now, ARGUS_ID_STACK, stacks.user, stacks.kernel, ARGUS_STACK_BLOCK, 0);
}

static void wake(const struct translation *now, bool is_new)
{
    uint32_t context = context_of(now), wakee = (uint32_t)translation_number(now, 0);
    const struct bpf_thread *known = thread_of(now, wakee);
    if ((is_own(now) && context == ARGUS_CONTEXT_TASK) ||
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

static void on_waking(const struct translation *now)
{
    wake(now, false);
}

static void on_wakeup_new(const struct translation *now)
{
    wake(now, true);
}

static void on_sample(const struct translation *now)
{
    if (now->tid == 0 || is_own(now))
        return;
    struct stack_ids stacks = translation_stacks(now);
    translation_emit(now, ARGUS_ID_SAMPLE, stacks.user, stacks.kernel, now->sample->address, 0);
}

/* --- system calls --- */

/* Whether `number` is one of the native table; 32-bit programs have other tables. */
static bool is_native(const struct translation *now, uint64_t number)
{
    if (!now->sample->is_32bit && number < 0x40000000)
        return true;
    now->translator->compat_skipped++;
    return false;
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

static void on_sys_enter(const struct translation *now)
{
    uint64_t number = translation_number(now, 0);
    if (is_own(now) || !is_native(now, number))
        return;
    translation_emit(now, ARGUS_ID_SYSCALL(number & 0x3fff) | ARGUS_FUNC_START, argument(now, 0),
                     argument(now, 1), argument(now, 2), argument(now, 3));
    if (has_more_arguments(now, number))
        translation_emit(now, ARGUS_ID_SYSCALL_MORE, number, argument(now, 4), argument(now, 5), 0);
}

static void on_sys_exit(const struct translation *now)
{
    uint64_t number = translation_number(now, 0);
    int64_t result = (int64_t)translation_number(now, 1);
    if (is_own(now))
        return;
    if (number == UINT64_MAX) /* rt_sigreturn restores the registers of the interrupted code */
        number = SYS_rt_sigreturn;
    if (!is_native(now, number))
        return;
    uint64_t error_number = result < 0 && result >= -4095 ? (uint64_t)-result : 0;
    translation_emit(now, ARGUS_ID_SYSCALL(number & 0x3fff) | ARGUS_FUNC_END, error_number,
                     (uint64_t)result, 0, now->sample->pid);
}

/* --- life and names --- */

static void remember_name(const struct translation *now, uint32_t tid, struct bpf_thread thread,
                          const char *name, size_t length)
{
    thread.seen_ns = now->sample->time_ns;
    thread.died_ns = 0;
    memset(thread.comm, 0, sizeof(thread.comm));
    memcpy(thread.comm, name, length < sizeof(thread.comm) ? length : sizeof(thread.comm) - 1);
    seen_threads_put(now->translator->threads, tid, &thread);
}

static const char *text_field(const struct translation *now, unsigned index, size_t *ret_length)
{
    return event_field_text(&now->fields[index], now->sample->raw, now->sample->raw_bytes,
                            ret_length);
}

/* Just before sched_process_fork, which does not say to which process the new thread belongs. */
static void on_new_task(const struct translation *now)
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
    const char *name = text_field(now, 1, &length);
    translation_emit(now, ARGUS_ID_NEW_THREAD, tid, made.pid, !is_thread, made.parent_pid);
    translation_emit_name(now, now->tid, ARGUS_ID_NAME_NEW, name, length);
    remember_name(now, tid, made, name, length);
}

/* A thread that is not the first of its process takes over the number of that one, which is gone. */
static void on_exec(const struct translation *now)
{
    uint32_t old_tid = (uint32_t)translation_number(now, 1);
    size_t length;
    const char *path = text_field(now, 0, &length), *name = path;
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

static void on_exit(const struct translation *now)
{
    bool is_last = seen_threads_end(now->translator->threads, now->tid, now->sample->time_ns);
    if (now->fields[0].bytes > 0) /* the kernel says so itself since Linux 6.16 */
        is_last = translation_number(now, 0) != 0;
    translation_emit(now, ARGUS_ID_THREAD_EXIT, now->tid, is_last, 0, 0);
}

/* A thread may rename another one of its process. */
static void on_rename(const struct translation *now)
{
    uint32_t tid = now->fields[1].bytes ? (uint32_t)translation_number(now, 1) : now->tid;
    size_t length;
    const char *name = text_field(now, 0, &length);
    const struct bpf_thread *known = thread_of(now, tid);
    translation_emit_name(now, tid, ARGUS_ID_NAME_THREAD, name, length);
    remember_name(now, tid, known ? *known : (struct bpf_thread){.pid = now->sample->pid}, name,
                  length);
}

/* --- interrupts and timers --- */

static void emit_number(const struct translation *now, uint32_t debugid)
{
    translation_emit(now, debugid, (uint32_t)translation_number(now, 0), 0, 0, 0);
}

static void on_irq_entry(const struct translation *now)
{
    emit_number(now, ARGUS_ID_INTERRUPT | ARGUS_FUNC_START);
}

static void on_irq_exit(const struct translation *now)
{
    emit_number(now, ARGUS_ID_INTERRUPT | ARGUS_FUNC_END);
}

static void on_softirq_entry(const struct translation *now)
{
    emit_number(now, ARGUS_ID_SOFTIRQ | ARGUS_FUNC_START);
}

static void on_softirq_exit(const struct translation *now)
{
    emit_number(now, ARGUS_ID_SOFTIRQ | ARGUS_FUNC_END);
}

/* The clock of the cpu samples is a timer like any other, but it is our own. Its function gives it away, which is not said
 * when it is cancelled or has fired. */
static bool is_own_timer(const struct translation *now, uint64_t function)
{
    struct translator *translator = now->translator;
    uint64_t timer = translation_number(now, 0);
    if (function == translator->own_timer_function && function != 0)
        idmap_put(&translator->own_timers, timer, 0);
    return idmap_get(&translator->own_timers, timer) != IDMAP_NONE;
}

static void on_timer_start(const struct translation *now)
{
    uint64_t function = translation_number(now, 1);
    if (!is_own_timer(now, function))
        translation_emit(now, ARGUS_ID_TIMER_ARMED, translation_number(now, 0), function,
                         translation_number(now, 2), (uint32_t)translation_number(now, 3));
}

static void on_timer_cancel(const struct translation *now)
{
    if (!is_own_timer(now, 0))
        translation_emit(now, ARGUS_ID_TIMER_CANCEL, translation_number(now, 0), 0, 0, 0);
}

static void on_timer_expire(const struct translation *now)
{
    uint64_t function = translation_number(now, 1);
    if (!is_own_timer(now, function))
        translation_emit(now, ARGUS_ID_TIMER_FIRED | ARGUS_FUNC_START, translation_number(now, 0),
                         function, translation_number(now, 2), 0);
}

static void on_timer_expired(const struct translation *now)
{
    if (!is_own_timer(now, 0))
        translation_emit(now, ARGUS_ID_TIMER_FIRED | ARGUS_FUNC_END, translation_number(now, 0), 0,
                         0, 0);
}

/* To add a tracepoint: a function above, which reads the row's fields by their position, and a row. */
/* clang-format off */
const struct perf_row perf_rows[] = {
    {"sched", "sched_switch", CATEGORY_SCHED, "no context switches",
     on_switch, {"prev_state", "next_pid", "prev_prio", "next_prio"},
     {.required = true, .chain = PERF_CHAIN_BOTH, .filter = BLOCKS, .filter_rest = DOES_NOT_BLOCK}},
    {"sched", "sched_waking", CATEGORY_SCHED, "no wake-ups",
     on_waking, {"pid", "prio"},
     {.required = true, .chain = PERF_CHAIN_USER, .filter = IN_TASK, .filter_rest = NOT_IN_TASK}},
    {"sched", "sched_wakeup_new", CATEGORY_SCHED, "the first wake-up of a new thread is missing",
     on_wakeup_new, {"pid", "prio"},
     {.chain = PERF_CHAIN_USER, .filter = IN_TASK, .filter_rest = NOT_IN_TASK}},
    {"raw_syscalls", "sys_enter", CATEGORY_SYSCALLS, "no system calls",
     on_sys_enter, {"id", "args"}, {.wants_bits = true}},
    {"raw_syscalls", "sys_exit", CATEGORY_SYSCALLS, "no results of system calls",
     on_sys_exit, {"id", "ret"}, {.wants_bits = true}},
    {"task", "task_newtask", CATEGORY_SCHED, "no fork edges",
     on_new_task, {"pid", "comm", "clone_flags"}, {0}},
    {"sched", "sched_process_exec", CATEGORY_SCHED, "programs keep the name of their parent",
     on_exec, {"filename", "old_pid"}, {0}},
    {"sched", "sched_process_exit", CATEGORY_SCHED, "threads never end",
     on_exit, {"?group_dead"}, {0}},
    {"task", "task_rename", CATEGORY_SCHED, "new thread names are missed",
     on_rename, {"newcomm", "?pid"}, {0}},
    {"irq", "irq_handler_entry", CATEGORY_INTERRUPTS, "interrupts count as time of threads",
     on_irq_entry, {"irq"}, {0}},
    {"irq", "irq_handler_exit", CATEGORY_INTERRUPTS, "interrupts count as time of threads",
     on_irq_exit, {"irq"}, {0}},
    {"irq", "softirq_entry", CATEGORY_INTERRUPTS, "softirqs count as time of threads",
     on_softirq_entry, {"vec"}, {0}},
    {"irq", "softirq_exit", CATEGORY_INTERRUPTS, "softirqs count as time of threads",
     on_softirq_exit, {"vec"}, {0}},
    {"timer", "hrtimer_start", CATEGORY_TIMERS, "no timer edges",
     on_timer_start, {"hrtimer", "function", "expires", "mode"}, {0}},
    {"timer", "hrtimer_cancel", CATEGORY_TIMERS, "cancelled timers seem armed",
     on_timer_cancel, {"hrtimer"}, {0}},
    {"timer", "hrtimer_expire_entry", CATEGORY_TIMERS, "no timer edges",
     on_timer_expire, {"hrtimer", "function", "now"}, {0}},
    {"timer", "hrtimer_expire_exit", CATEGORY_TIMERS, "no timer edges",
     on_timer_expired, {"hrtimer"}, {0}},
    {NULL, NULL, CATEGORY_SCHED, "no cpu samples",
     on_sample, {NULL}, {.chain = PERF_CHAIN_BOTH}},
};
/* clang-format on */

const size_t perf_row_count = sizeof(perf_rows) / sizeof(perf_rows[0]);
