#include "kernel_events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/idmap.h"
#include "base/vec.h"
#include "call_numbers.h"

/* What is going on on a CPU. */
struct cpu_state {
    uint64_t thread;               /* for kernel_events_current() */
    uint32_t interrupts, softirqs; /* how many are nested */
};

/* Kinds of contents. A trace that has none of a kind gets a note. */
enum part {
    SWITCHES,
    WAKES,
    CALLS,
    TIMERS,
    INTERRUPTS,
    WORK,
    BLOCK,
    SIGNALS,
    LIVES,
    SAMPLES,
    STACKS,
    PARTS
};

struct kernel_events {
    struct sink *sink; /* borrowed */
    VEC(struct cpu_state) cpus;
    struct idmap call_of_thread; /* number of the system call in progress + 1 */
    struct idmap exited;
    uint64_t counts[PARTS];
};

struct kernel_events *kernel_events_create(struct sink *sink)
{
    struct kernel_events *events = calloc(1, sizeof(*events));
    if (events)
        events->sink = sink;
    return events;
}

void kernel_events_destroy(struct kernel_events *events)
{
    if (!events)
        return;
    vec_deinit(&events->cpus);
    idmap_deinit(&events->call_of_thread);
    idmap_deinit(&events->exited);
    free(events);
}

/* --- fields --- */

static uint64_t number(const struct foreign_event *event, const char *name)
{
    uint64_t value = 0;
    event->fields->number(event, name, &value);
    return value;
}

/* The first of several names: tracers disagree about the names of ids. */
static uint64_t number_of(const struct foreign_event *event, const char *const *names)
{
    uint64_t value = 0;
    while (*names && !event->fields->number(event, *names, &value))
        names++;
    return value;
}

#define NUMBER(event, ...) number_of(event, (const char *const[]){__VA_ARGS__, NULL})

static const char *text(const struct foreign_event *event, const char *name)
{
    const char *value = event->fields->text(event, name);
    return value ? value : "";
}

static struct cpu_state *cpu_state(struct kernel_events *events, uint32_t cpu)
{
    static struct cpu_state none;
    if (cpu >= 65536)
        return &none;
    while (events->cpus.length <= cpu)
        if (!vec_push(&events->cpus, (struct cpu_state){0}))
            return &none;
    return &events->cpus.data[cpu];
}

uint64_t *kernel_events_current(struct kernel_events *events, uint32_t cpu)
{
    struct cpu_state *state = cpu_state(events, cpu);
    if (cpu < events->cpus.length)
        return &state->thread;
    if (cpu < 65536)
        sink_fail(events->sink, argus_error_memory());
    return NULL;
}

uint32_t kernel_events_context(uint32_t common_flags)
{
    enum { HARDIRQ = 0x08, SOFTIRQ = 0x10 };
    return common_flags & HARDIRQ   ? ARGUS_CONTEXT_HARDIRQ
           : common_flags & SOFTIRQ ? ARGUS_CONTEXT_SOFTIRQ
                                    : ARGUS_CONTEXT_TASK;
}

/* From where a wake-up came. Without records of interrupts on this CPU, it is unknown. */
static uint32_t context_of(struct kernel_events *events, const struct foreign_event *event)
{
    const struct cpu_state *cpu = cpu_state(events, event->cpu);
    if (event->context != ARGUS_CONTEXT_UNKNOWN)
        return event->context;
    if (cpu->interrupts)
        return ARGUS_CONTEXT_HARDIRQ;
    if (cpu->softirqs)
        return ARGUS_CONTEXT_SOFTIRQ;
    return events->counts[INTERRUPTS] ? ARGUS_CONTEXT_TASK : ARGUS_CONTEXT_UNKNOWN;
}

/* --- records --- */

static struct argus_record record_of(const struct foreign_event *event, uint32_t debugid,
                                     uint64_t arg1, uint64_t arg2, uint64_t arg3, uint64_t arg4)
{
    return (struct argus_record){.timestamp = event->time_ns,
                                 .arg = {arg1, arg2, arg3, arg4},
                                 .tid = event->tid,
                                 .debugid = debugid,
                                 .cpu = event->cpu};
}

static void put(struct kernel_events *events, const struct foreign_event *event, uint32_t debugid,
                uint64_t arg1, uint64_t arg2, uint64_t arg3, uint64_t arg4)
{
    struct argus_record record = record_of(event, debugid, arg1, arg2, arg3, arg4);
    sink_record(events->sink, &record);
}

/* How an event calls a thread; another name than before is a record. */
static void put_name(struct kernel_events *events, const struct foreign_event *event, uint64_t tid,
                     uint32_t debugid, const char *name)
{
    struct argus_record place = record_of(event, debugid, 0, 0, 0, 0);
    place.tid = tid;
    sink_name(events->sink, &place, name);
}

static void put_stack(struct kernel_events *events, const struct foreign_event *event,
                      enum argus_stack_why why)
{
    if (event->user_stack || event->kernel_stack)
        put(events, event, ARGUS_ID_STACK, event->user_stack, event->kernel_stack, why, 0);
}

/* --- the scheduler --- */

/* The kernel's state letters, R S D T t X Z P I, as bits; a larger number means preempted
 * (__trace_sched_switch_state()). Before Linux 4.14, 64 was TASK_DEAD, today it is a parked
 * thread. */
static uint64_t state_of(const struct kernel_events *events, uint64_t tid, uint64_t state)
{
    if (state >= 0x100)
        return ARGUS_LINUX_STATE_RUNNING;
    if (state & 0x30 || (state & 0x40 && idmap_get(&events->exited, tid) != IDMAP_NONE))
        return ARGUS_LINUX_STATE_DEAD;
    if (state & 0xc0)
        return ARGUS_LINUX_STATE_UNINTERRUPTIBLE;
    return state;
}

static void on_switch(struct kernel_events *events, const struct foreign_event *event)
{
    struct foreign_event of_previous = *event;
    uint64_t next = NUMBER(event, "next_pid", "next_tid");
    of_previous.tid = NUMBER(event, "prev_pid", "prev_tid");
    uint64_t state = state_of(events, of_previous.tid, number(event, "prev_state"));
    put_name(events, event, of_previous.tid, ARGUS_ID_NAME_THREAD, text(event, "prev_comm"));
    put_name(events, event, next, ARGUS_ID_NAME_THREAD, text(event, "next_comm"));
    put(events, &of_previous, ARGUS_ID_SWITCH, state, next, NUMBER(event, "prev_prio"),
        NUMBER(event, "next_prio"));
    if (state && state != ARGUS_LINUX_STATE_DEAD)
        put_stack(events, &of_previous, ARGUS_STACK_BLOCK);
}

static void put_wake(struct kernel_events *events, const struct foreign_event *event, bool is_new,
                     uint32_t context, uint64_t place)
{
    uint64_t woken = NUMBER(event, "pid", "tid");
    struct argus_record record =
        record_of(event, ARGUS_ID_MAKE_RUNNABLE, woken, NUMBER(event, "prio"), is_new, context);
    record.unused = is_new ? 0 : place;
    put_name(events, event, woken, ARGUS_ID_NAME_THREAD, text(event, "comm"));
    sink_record(events->sink, &record);
    put_stack(events, event, ARGUS_STACK_WAKE);
}

static void on_waking(struct kernel_events *events, const struct foreign_event *event)
{
    put_wake(events, event, false, context_of(events, event), SINK_WAKE_AT_WAKER);
}

/* Recorded where the woken thread will run. The current thread is its waker only if that is the
 * same CPU, and nothing says whether it is. */
static void on_wakeup(struct kernel_events *events, const struct foreign_event *event)
{
    put_wake(events, event, false, context_of(events, event), SINK_WAKE_AT_WAKEE);
}

static void on_wakeup_new(struct kernel_events *events, const struct foreign_event *event)
{
    put_wake(events, event, true, ARGUS_CONTEXT_TASK, 0);
}

/* --- lives --- */

#define CLONE_THREAD 0x00010000u /* include/uapi/linux/sched.h */

static void put_child(struct kernel_events *events, const struct foreign_event *event,
                      uint64_t child, uint64_t process, const char *name)
{
    uint64_t parent = sink_process(events->sink, event->tid);
    bool is_process = process == child;
    if (!is_process && !process)
        process = sink_process(events->sink, child);
    if (!process) {
        process = child;
        is_process = true;
    }
    sink_thread(events->sink, child, process, is_process ? parent : 0, name, false);
    put(events, event, ARGUS_ID_NEW_THREAD, child, process, is_process,
        parent ? parent : event->tid);
    struct argus_record place = record_of(event, ARGUS_ID_NAME_NEW, 0, 0, 0, 0);
    sink_name_child(events->sink, &place, child, name);
}

static void on_new_task(struct kernel_events *events, const struct foreign_event *event)
{
    uint64_t child = number(event, "pid");
    bool is_thread = number(event, "clone_flags") & CLONE_THREAD;
    uint64_t process = is_thread ? sink_process(events->sink, event->tid) : child;
    put_child(events, event, child, process, text(event, "comm"));
}

/* Without a process in the fork itself, tables of the file may name it (LTTng has child_pid). If
 * the file also has task_newtask, the child is known already. */
static void on_fork(struct kernel_events *events, const struct foreign_event *event)
{
    uint64_t child = NUMBER(event, "child_tid", "child_pid");
    uint64_t process = 0, has_tid;
    const char *name = text(event, "child_comm");
    if (event->fields->number(event, "child_tid", &has_tid))
        process = number(event, "child_pid");
    put_child(events, event, child, process, *name ? name : text(event, "comm"));
}

const char *kernel_events_last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void on_exec(struct kernel_events *events, const struct foreign_event *event)
{
    uint64_t process = sink_process(events->sink, event->tid);
    put(events, event, ARGUS_ID_EXEC, process ? process : event->tid, 0, 0, 0);
    put_name(events, event, event->tid, ARGUS_ID_NAME_EXEC,
             kernel_events_last_part(text(event, "filename")));
}

static void on_thread_exit(struct kernel_events *events, const struct foreign_event *event)
{
    uint64_t process = sink_process(events->sink, event->tid);
    bool last = !process || process == event->tid;
    if (!idmap_put(&events->exited, event->tid, 0))
        sink_fail(events->sink, argus_error_memory());
    put(events, event, ARGUS_ID_THREAD_EXIT, event->tid, last, 0, 0);
}

static void on_rename(struct kernel_events *events, const struct foreign_event *event)
{
    if (number(event, "pid") == event->tid)
        put_name(events, event, event->tid, ARGUS_ID_NAME_THREAD, text(event, "newcomm"));
}

/* LTTng writes a table of the threads that were alive. */
static void on_statedump(struct kernel_events *events, const struct foreign_event *event)
{
    sink_thread(events->sink, number(event, "tid"), number(event, "pid"), number(event, "ppid"),
                text(event, "name"), number(event, "type") == 1);
}

/* --- system calls --- */

/* How the names of events begin that are one system call each. "sys_" alone: ftrace's text, and
 * LTTng before 2.4. */
static const char *const enters[] = {"sys_enter_", "syscall_entry_", "sys_", NULL};
static const char *const leaves[] = {"sys_exit_", "syscall_exit_", NULL};

static const char *call_name(const char *event_name, const char *const *beginnings)
{
    for (size_t i = 0; beginnings[i]; i++)
        if (strncmp(event_name, beginnings[i], strlen(beginnings[i])) == 0)
            return event_name + strlen(beginnings[i]);
    return NULL;
}

static int call_number(const struct kernel_events *events, const struct foreign_event *event,
                       const char *const *beginnings)
{
    const char *name = call_name(event->name, beginnings);
    uint64_t value;
    if (event->fields->number(event, "id", &value) ||
        event->fields->number(event, "__syscall_nr", &value))
        return value < 0x1000 ? (int)value : -1;
    if (!name)
        return -1;
    int nr = call_number_of(sink_header(events->sink)->arch, name);
    if (nr < 0 && strncmp(name, "new", 3) == 0) /* newfstat and the like: the kernel's own names */
        nr = call_number_of(sink_header(events->sink)->arch, name + 3);
    return nr;
}

static void on_call_begin(struct kernel_events *events, const struct foreign_event *event)
{
    int nr = call_number(events, event, enters);
    uint64_t arg[6] = {0};
    if (nr < 0)
        return;
    for (unsigned i = 0; i < 6; i++)
        event->fields->argument(event, i, &arg[i]);
    if (!idmap_put(&events->call_of_thread, event->tid, (uint32_t)nr + 1))
        sink_fail(events->sink, argus_error_memory());
    put(events, event, ARGUS_ID_SYSCALL((uint32_t)nr) | ARGUS_FUNC_START, arg[0], arg[1], arg[2],
        arg[3]);
    if (arg[4] || arg[5])
        put(events, event, ARGUS_ID_SYSCALL_MORE, (uint64_t)nr, arg[4], arg[5], 0);
    put_stack(events, event, ARGUS_STACK_CALL);
}

static void on_call_end(struct kernel_events *events, const struct foreign_event *event)
{
    int nr = call_number(events, event, leaves);
    uint32_t begun = idmap_get(&events->call_of_thread, event->tid);
    int64_t result = (int64_t)NUMBER(event, "ret");
    if (nr < 0 && begun != IDMAP_NONE && begun)
        nr = (int)begun - 1;
    if (nr < 0)
        return;
    idmap_put(&events->call_of_thread, event->tid, 0);
    uint64_t failed = result < 0 && result >= -4095 ? (uint64_t)-result : 0;
    put(events, event, ARGUS_ID_SYSCALL((uint32_t)nr) | ARGUS_FUNC_END, failed, (uint64_t)result, 0,
        sink_process(events->sink, event->tid));
}

/* --- interrupts, timers, work --- */

static void on_irq_begin(struct kernel_events *events, const struct foreign_event *event)
{
    cpu_state(events, event->cpu)->interrupts++;
    put(events, event, ARGUS_ID_INTERRUPT | ARGUS_FUNC_START, NUMBER(event, "irq", "vector"), 0, 0,
        0);
}

static void on_irq_end(struct kernel_events *events, const struct foreign_event *event)
{
    struct cpu_state *cpu = cpu_state(events, event->cpu);
    cpu->interrupts -= cpu->interrupts > 0;
    put(events, event, ARGUS_ID_INTERRUPT | ARGUS_FUNC_END, NUMBER(event, "irq", "vector"), 0, 0,
        0);
}

static void on_softirq_begin(struct kernel_events *events, const struct foreign_event *event)
{
    cpu_state(events, event->cpu)->softirqs++;
    put(events, event, ARGUS_ID_SOFTIRQ | ARGUS_FUNC_START, number(event, "vec"), 0, 0, 0);
}

static void on_softirq_end(struct kernel_events *events, const struct foreign_event *event)
{
    struct cpu_state *cpu = cpu_state(events, event->cpu);
    cpu->softirqs -= cpu->softirqs > 0;
    put(events, event, ARGUS_ID_SOFTIRQ | ARGUS_FUNC_END, number(event, "vec"), 0, 0, 0);
}

static void on_timer_armed(struct kernel_events *events, const struct foreign_event *event)
{
    put(events, event, ARGUS_ID_TIMER_ARMED, number(event, "hrtimer"), number(event, "function"),
        number(event, "expires"), number(event, "mode"));
}

static void on_timer_cancelled(struct kernel_events *events, const struct foreign_event *event)
{
    put(events, event, ARGUS_ID_TIMER_CANCEL, number(event, "hrtimer"), 0, 0, 0);
}

/* A timer fires in a hard interrupt, of which the kernel has no other record. */
static void on_timer_begin(struct kernel_events *events, const struct foreign_event *event)
{
    cpu_state(events, event->cpu)->interrupts++;
    put(events, event, ARGUS_ID_TIMER_FIRED | ARGUS_FUNC_START, number(event, "hrtimer"),
        number(event, "function"), number(event, "now"), 0);
}

static void on_timer_end(struct kernel_events *events, const struct foreign_event *event)
{
    struct cpu_state *cpu = cpu_state(events, event->cpu);
    cpu->interrupts -= cpu->interrupts > 0;
    put(events, event, ARGUS_ID_TIMER_FIRED | ARGUS_FUNC_END, number(event, "hrtimer"), 0, 0, 0);
}

static void on_work_queued(struct kernel_events *events, const struct foreign_event *event)
{
    put(events, event, ARGUS_ID_WORK_QUEUED, number(event, "work"), number(event, "function"), 0,
        context_of(events, event));
}

static void on_work_begin(struct kernel_events *events, const struct foreign_event *event)
{
    put(events, event, ARGUS_ID_WORK | ARGUS_FUNC_START, number(event, "work"),
        number(event, "function"), 0, 0);
}

static void on_work_end(struct kernel_events *events, const struct foreign_event *event)
{
    put(events, event, ARGUS_ID_WORK | ARGUS_FUNC_END, number(event, "work"), 0, 0, 0);
}

/* --- disks --- */

/* The tracepoints do not give the request's address; device and first sector identify it while it
 * is under way. */
static uint64_t request_of(const struct foreign_event *event)
{
    return (number(event, "dev") << 44) ^ number(event, "sector") ^ 1ull << 63;
}

static uint32_t operation_of(const char *flags)
{
    return strchr(flags, 'D')   ? ARGUS_BLOCK_DISCARD
           : strchr(flags, 'W') ? ARGUS_BLOCK_WRITE
           : strchr(flags, 'R') ? ARGUS_BLOCK_READ
           : strchr(flags, 'F') ? ARGUS_BLOCK_FLUSH
                                : ARGUS_BLOCK_READ;
}

static void on_block_issued(struct kernel_events *events, const struct foreign_event *event)
{
    uint64_t bytes = 0;
    if (!event->fields->number(event, "bytes", &bytes) || !bytes)
        bytes = number(event, "nr_sector") * 512;
    put(events, event, ARGUS_ID_BLOCK_ISSUED, request_of(event), number(event, "sector"), bytes,
        (uint32_t)number(event, "dev") | (uint64_t)operation_of(text(event, "rwbs")) << 32);
}

static void on_block_completed(struct kernel_events *events, const struct foreign_event *event)
{
    put(events, event, ARGUS_ID_BLOCK_COMPLETED, request_of(event),
        NUMBER(event, "error", "errors"), number(event, "nr_sector") * 512, 0);
}

/* --- signals --- */

static void on_signal_sent(struct kernel_events *events, const struct foreign_event *event)
{
    uint64_t group = number(event, "group");
    put(events, event, ARGUS_ID_SIGNAL_SENT, number(event, "sig"),
        (uint32_t)NUMBER(event, "pid", "tid") | (group ? 1ull << 32 : 0),
        (number(event, "result") & 0xff) | number(event, "code") << 32, context_of(events, event));
}

static void on_signal_delivered(struct kernel_events *events, const struct foreign_event *event)
{
    put(events, event, ARGUS_ID_SIGNAL_DELIVERED, number(event, "sig"), number(event, "sa_handler"),
        number(event, "code"), 0);
}

/* --- samples --- */

static void on_sample(struct kernel_events *events, const struct foreign_event *event)
{
    put(events, event, ARGUS_ID_SAMPLE, event->user_stack, event->kernel_stack, number(event, "ip"),
        0);
}

/* --- the table --- */

typedef void handler(struct kernel_events *events, const struct foreign_event *event);

/* To add a tracepoint: a row, and its function. A name that ends in '*' is a beginning. */
static const struct row {
    const char *name;
    handler *take;
    enum part part;
} rows[] = {
    {"sched_switch", on_switch, SWITCHES},
    {"sched_waking", on_waking, WAKES},
    {"sched_wakeup", on_wakeup, WAKES},
    {"sched_wakeup_new", on_wakeup_new, WAKES},
    {"sched_process_fork", on_fork, LIVES},
    {"task_newtask", on_new_task, LIVES},
    {"sched_process_exec", on_exec, LIVES},
    {"sched_process_exit", on_thread_exit, LIVES},
    {"task_rename", on_rename, LIVES},
    {"lttng_statedump_process_state", on_statedump, LIVES},
    {"sys_enter", on_call_begin, CALLS},
    {"sys_exit", on_call_end, CALLS},
    {"sys_enter_*", on_call_begin, CALLS},
    {"sys_exit_*", on_call_end, CALLS},
    {"exit_syscall", on_call_end, CALLS}, /* LTTng before 2.4; ftrace_text.c */
    {"sys_*", on_call_begin, CALLS},
    {"syscall_entry_*", on_call_begin, CALLS},
    {"syscall_exit_*", on_call_end, CALLS},
    {"irq_handler_entry", on_irq_begin, INTERRUPTS},
    {"irq_handler_exit", on_irq_end, INTERRUPTS},
    {"local_timer_entry", on_irq_begin, INTERRUPTS},
    {"local_timer_exit", on_irq_end, INTERRUPTS},
    {"reschedule_entry", on_irq_begin, INTERRUPTS},
    {"reschedule_exit", on_irq_end, INTERRUPTS},
    {"call_function_entry", on_irq_begin, INTERRUPTS},
    {"call_function_exit", on_irq_end, INTERRUPTS},
    {"call_function_single_entry", on_irq_begin, INTERRUPTS},
    {"call_function_single_exit", on_irq_end, INTERRUPTS},
    {"softirq_entry", on_softirq_begin, INTERRUPTS},
    {"softirq_exit", on_softirq_end, INTERRUPTS},
    {"irq_softirq_entry", on_softirq_begin, INTERRUPTS},
    {"irq_softirq_exit", on_softirq_end, INTERRUPTS},
    {"hrtimer_start", on_timer_armed, TIMERS},
    {"hrtimer_cancel", on_timer_cancelled, TIMERS},
    {"hrtimer_expire_entry", on_timer_begin, TIMERS},
    {"hrtimer_expire_exit", on_timer_end, TIMERS},
    {"timer_hrtimer_start", on_timer_armed, TIMERS},
    {"timer_hrtimer_cancel", on_timer_cancelled, TIMERS},
    {"timer_hrtimer_expire_entry", on_timer_begin, TIMERS},
    {"timer_hrtimer_expire_exit", on_timer_end, TIMERS},
    {"workqueue_queue_work", on_work_queued, WORK},
    {"workqueue_execute_start", on_work_begin, WORK},
    {"workqueue_execute_end", on_work_end, WORK},
    {"block_rq_issue", on_block_issued, BLOCK},
    {"block_rq_complete", on_block_completed, BLOCK},
    {"signal_generate", on_signal_sent, SIGNALS},
    {"signal_deliver", on_signal_delivered, SIGNALS},
    {"cpu_sample", on_sample, SAMPLES},
};

static bool is_named(const struct row *row, const char *name)
{
    size_t length = strlen(row->name);
    if (row->name[length - 1] == '*')
        return strncmp(row->name, name, length - 1) == 0;
    return strcmp(row->name, name) == 0;
}

bool kernel_events_take(struct kernel_events *events, const struct foreign_event *event)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        if (!is_named(&rows[i], event->name))
            continue;
        events->counts[rows[i].part]++;
        events->counts[STACKS] += rows[i].part != SAMPLES && event->user_stack;
        rows[i].take(events, event);
        return true;
    }
    sink_other(events->sink, event->name, 1);
    return false;
}

/* --- what is missing --- */

/* The notes have the form that argus/gaps.h reads: "recorded without X: why". */
static const struct {
    enum part part;
    const char *name; /* of the gap: libargus/event/gaps.def */
} gaps[] = {
    {CALLS, "syscalls"}, {TIMERS, "timers"}, {INTERRUPTS, "interrupts"},
    {WORK, "work"},      {BLOCK, "block"},   {SIGNALS, "signals"},
    {LIVES, "lives"},    {STACKS, "stacks"}, {SAMPLES, "samples"},
};

void kernel_events_note_gaps(struct kernel_events *events)
{
    struct sink *sink = events->sink;
    for (size_t i = 0; i < sizeof(gaps) / sizeof(*gaps); i++)
        if (!events->counts[gaps[i].part])
            sink_note(sink, "imported without %s: the file has no such events", gaps[i].name);
    if (!events->counts[SWITCHES])
        sink_note(sink, "the file has no sched_switch: when threads ran and waited is not known");
    if (!events->counts[WAKES])
        sink_note(sink,
                  "the file has no sched_waking and no sched_wakeup: the graph has no wake-up "
                  "edges");
}
