/* Nothing here outlives the process: programs, maps and attachments are file descriptors, so that the kernel takes all of
 * it down when the recorder ends, in whatever way.
 */
#include "linux/programs.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/perf_event.h>

#include "base/vec.h"
#include "linux/bpf_object.h"
#include "linux/host_header.h"
#include "linux/kallsyms.h"
#include "linux/kernel_btf.h"
#include "linux/probes.h"
#include "linux/snapshots.h"
#include "linux/syscall_bitmaps.h"

/* To add a tracepoint: write its program in bpf/, and add a row. `lost_without` ends the sentence
 * "this kernel has no tracepoint …: ". A required one that is missing is an error. A row of a category that is
 * switched off is not attached. */
struct program_row {
    enum category category;
    const char *program;    /* function in bpf/ */
    const char *tracepoint; /* name of the raw tracepoint */
    const char *lost_without;
    bool required;
};

static const struct program_row rows[] = {
    {CATEGORY_SCHED, "on_switch", "sched_switch", "no context switches", true},
    {CATEGORY_SCHED, "on_waking", "sched_waking", "no wake-ups", true},
    {CATEGORY_SCHED, "on_wakeup_new", "sched_wakeup_new",
     "the first wake-up of a new thread is missing", false},
    {CATEGORY_SYSCALLS, "on_sys_enter", "sys_enter", "no system calls", false},
    {CATEGORY_SYSCALLS, "on_sys_exit", "sys_exit", "no results of system calls", false},
    {CATEGORY_SCHED, "on_fork", "sched_process_fork", "no fork edges", false},
    {CATEGORY_SCHED, "on_exec", "sched_process_exec", "programs keep the name of their parent",
     false},
    {CATEGORY_SCHED, "on_exit", "sched_process_exit", "threads never end", false},
    {CATEGORY_SCHED, "on_rename", "task_rename", "new thread names are missed", false},
    {CATEGORY_INTERRUPTS, "on_irq_entry", "irq_handler_entry",
     "interrupts count as time of threads", false},
    {CATEGORY_INTERRUPTS, "on_irq_exit", "irq_handler_exit", "interrupts count as time of threads",
     false},
    {CATEGORY_INTERRUPTS, "on_softirq_entry", "softirq_entry", "softirqs count as time of threads",
     false},
    {CATEGORY_INTERRUPTS, "on_softirq_exit", "softirq_exit", "softirqs count as time of threads",
     false},
    {CATEGORY_TIMERS, "on_timer_start", "hrtimer_start", "no timer edges", false},
    {CATEGORY_TIMERS, "on_timer_cancel", "hrtimer_cancel", "cancelled timers seem armed", false},
    {CATEGORY_TIMERS, "on_timer_expire", "hrtimer_expire_entry", "no timer edges", false},
    {CATEGORY_TIMERS, "on_timer_expired", "hrtimer_expire_exit", "no timer edges", false},
    {CATEGORY_TIMERS, "on_wheel_start", "timer_start", "no edges of coarse timers", false},
    {CATEGORY_TIMERS, "on_wheel_cancel", "timer_cancel", "cancelled coarse timers seem armed",
     false},
    {CATEGORY_TIMERS, "on_wheel_expire", "timer_expire_entry", "no edges of coarse timers", false},
    {CATEGORY_TIMERS, "on_wheel_expired", "timer_expire_exit", "no edges of coarse timers", false},
    {CATEGORY_TIMERS, "on_itimer_set", "itimer_state", "no edges of cpu time timers", false},
    {CATEGORY_TIMERS, "on_itimer_expire", "itimer_expire", "no edges of cpu time timers", false},
    {CATEGORY_WORK, "on_work_queued", "workqueue_queue_work", "no edges of work queues", false},
    {CATEGORY_WORK, "on_work_start", "workqueue_execute_start", "no edges of work queues", false},
    {CATEGORY_WORK, "on_work_end", "workqueue_execute_end", "work in a softirq never ends", false},
    {CATEGORY_BLOCK, "on_block_issue", "block_rq_issue", "no edges of disks", false},
    {CATEGORY_BLOCK, "on_block_complete", "block_rq_complete", "no edges of disks", false},
    {CATEGORY_SIGNALS, "on_signal_generate", "signal_generate",
     "senders of signals are known by their calls only", false},
    {CATEGORY_SIGNALS, "on_signal_deliver", "signal_deliver",
     "when a running thread took a signal is not known", false},
    {CATEGORY_MESSAGES, "on_data_ready", "sk_data_ready",
     "messages of unix sockets and UDP are paired by order and size alone", false},
    {CATEGORY_MESSAGES, "on_copy_datagram", "skb_copy_datagram_iovec",
     "messages of unix sockets have no receiver", false},
    {CATEGORY_MESSAGES, "on_send_length", "sock_send_length",
     "messages sent over TCP are read later, when another may have followed", false},
    {CATEGORY_MESSAGES, "on_tcp_step", "tcp_sendmsg_locked",
     "which of several writers of one TCP socket was first is not always known", false},
    {CATEGORY_MESSAGES, "on_receive_length", "sock_recv_length",
     "messages over UDP have no receiver", false},
    {CATEGORY_MESSAGES, "on_net_queue", "net_dev_queue", "messages over UDP have no sender", false},
    {CATEGORY_MESSAGES, "on_udp_dropped", "udp_fail_queue_rcv_skb",
     "UDP messages that did not fit into a queue seem unread", false},
};

#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

/* A software event of perf_event, which belongs to a cpu. */
struct cpu_event {
    const char *program, *what; /* `what` ends "no …" */
    uint64_t config, period;
};

struct programs {
    struct bpf_object *object;
    struct cpu_event events[2];
    size_t event_count;
    VEC(struct bpf_link *) links;
    struct probes *probes;   /* NULL: none */
    VEC(const char *) notes; /* strings owned */
};

static __attribute__((format(printf, 2, 3))) void add_note(struct programs *programs,
                                                           const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = NULL;
    if (vasprintf(&text, format, args) >= 0 && !vec_push(&programs->notes, text))
        free(text);
    va_end(args);
}

/* What libbpf would print: the recorder has no terminal, and its errors are sentences of its own. */
static int swallow_message(enum libbpf_print_level level, const char *format, va_list args)
{
    if (getenv("ARGUS_LIBBPF_DEBUG"))
        return vfprintf(stderr, format, args);
    (void)level;
    return 0;
}

static struct argus_error *open_object(struct programs *programs)
{
    LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = "argus");
    libbpf_set_print(swallow_message);
    programs->object =
        bpf_object__open_mem(bpf_object_bytes, bpf_object_end - bpf_object_bytes, &options);
    if (!programs->object)
        return argus_error_os(errno, "libbpf cannot read the recorder's own programs");
    return NULL;
}

static void leave_out(struct programs *programs, const struct program_row *row)
{
    bpf_program__set_autoload(bpf_object__find_program_by_name(programs->object, row->program),
                              false);
}

static struct argus_error *choose_programs(struct programs *programs, const struct btf *btf,
                                           uint32_t categories)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        const struct program_row *row = &rows[i];
        if (!(categories & CATEGORY_BIT(row->category))) {
            leave_out(programs, row);
            continue;
        }
        if (kernel_btf_tracepoint_arguments(btf, row->tracepoint) >= 0)
            continue;
        if (row->required)
            return argus_error_create(
                ARGUS_ERROR_UNSUPPORTED,
                "this kernel has no tracepoint %s, without which there are %s", row->tracepoint,
                row->lost_without);
        add_note(programs, "this kernel has no tracepoint %s: %s", row->tracepoint,
                 row->lost_without);
        leave_out(programs, row);
    }
    return NULL;
}

static struct bpf_map *find_map(const struct programs *programs, const char *name)
{
    return bpf_object__find_map_by_name(programs->object, name);
}

static struct argus_error *configure(struct programs *programs, const struct btf *btf,
                                     const struct backend_options *options, uint32_t cpu_count,
                                     uint32_t slot_count)
{
    struct bpf_settings settings = {
        .own_tgid = (uint32_t)getpid(),
        .slot_count = slot_count,
        .watch_polls = options->watch_polls,
        .stacks = !!(options->categories & CATEGORY_BIT(CATEGORY_STACKS)),
        .call_stacks = options->call_stacks && options->categories & CATEGORY_BIT(CATEGORY_STACKS),
        .tick_ns = host_tick_ns(),
        .page_bytes = (uint32_t)sysconf(_SC_PAGESIZE),
        .hooks = !!(options->categories & CATEGORY_BIT(CATEGORY_PROBES)),
        .messages = !!(options->categories & CATEGORY_BIT(CATEGORY_MESSAGES)),
        .page_shift = (uint64_t)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE)),
    };
    if (options->rate_hz)
        settings.own_timer_function = kallsyms_find("perf_swevent_hrtimer");
    kernel_btf_fill(btf, &settings);
    syscalls_fill(&settings);
    snapshots_configure(programs->object, options, cpu_count, &settings);
    int failed =
        bpf_map__set_initial_value(find_map(programs, ".rodata"), &settings, sizeof(settings));
    if (failed)
        return argus_error_os(-failed, "libbpf does not take the programs' settings");
    if (!settings.has_preempt_count)
        add_note(programs, "this kernel's type information does not list the preemption count: "
                           "the context of wake-ups is unknown");
    bpf_map__set_max_entries(find_map(programs, "ring"), cpu_count * slot_count);
    bpf_map__set_max_entries(find_map(programs, "cpus"), cpu_count);
    return NULL;
}

static struct argus_error *load(struct programs *programs)
{
    struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_MEMLOCK, &unlimited); /* kernels before 5.11 count maps against it */
    int failed = bpf_object__load(programs->object);
    if (!failed)
        return NULL;
    if (failed == -EPERM || failed == -EACCES)
        return argus_error_create(ARGUS_ERROR_PERMISSION,
                                  "the kernel refuses BPF programs: root (or CAP_BPF and "
                                  "CAP_PERFMON) is needed, and no lockdown "
                                  "(/sys/kernel/security/lockdown) or container that forbids them");
    if (failed == -ENOMEM)
        return argus_error_create(ARGUS_ERROR_MEMORY,
                                  "there is not enough memory for the ring: choose a smaller one "
                                  "with --ring-size");
    return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                              "the kernel does not accept the recorder's programs (%s; Linux 5.15 "
                              "or later is needed)",
                              strerror(-failed));
}

static struct argus_error *attach(struct programs *programs)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        struct bpf_program *program =
            bpf_object__find_program_by_name(programs->object, rows[i].program);
        if (!bpf_program__autoload(program))
            continue;
        struct bpf_link *link = bpf_program__attach_raw_tracepoint(program, rows[i].tracepoint);
        int failed = errno;
        if (link && !vec_push(&programs->links, link)) {
            bpf_link__destroy(link);
            return argus_error_memory();
        }
        if (!link && rows[i].required)
            return argus_error_os(failed, "cannot attach to the tracepoint %s", rows[i].tracepoint);
        if (!link)
            add_note(programs, "cannot attach to the tracepoint %s (%s): %s", rows[i].tracepoint,
                     strerror(failed), rows[i].lost_without);
    }
    return NULL;
}

static struct argus_error *attach_event(struct programs *programs, const struct cpu_event *event,
                                        uint32_t cpu)
{
    struct bpf_program *program =
        bpf_object__find_program_by_name(programs->object, event->program);
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(attributes),
        .config = event->config,
        .sample_period = event->period,
        .exclude_idle = event->config == PERF_COUNT_SW_CPU_CLOCK,
    };
    int fd = (int)syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0 && errno == ENODEV)
        return NULL; /* the cpu is off */
    struct bpf_link *link = fd < 0 ? NULL : bpf_program__attach_perf_event(program, fd);
    if (!link) {
        add_note(programs, "no %s on cpu %u: %s", event->what, cpu, strerror(errno));
        if (fd >= 0)
            close(fd);
    } else if (!vec_push(&programs->links, link)) {
        bpf_link__destroy(link);
        return argus_error_memory();
    }
    return NULL;
}

/* On each cpu that is online now; programs_cpu_came() does the same for one that comes later. */
static struct argus_error *attach_event_everywhere(struct programs *programs,
                                                   struct cpu_event event, uint32_t cpu_count)
{
    struct argus_error *error = NULL;
    programs->events[programs->event_count++] = event;
    for (uint32_t cpu = 0; cpu < cpu_count && !error; cpu++)
        error = attach_event(programs, &event, cpu);
    return error;
}

struct argus_error *programs_cpu_came(struct programs *programs, uint32_t cpu)
{
    struct argus_error *error = NULL;
    for (size_t i = 0; i < programs->event_count && !error; i++)
        error = attach_event(programs, &programs->events[i], cpu);
    return error;
}

static void probe_refused(void *context, const struct probe *probe, int error_number)
{
    add_note(context, "probes: cannot attach to %s in %s (%s)", probe->entry.symbol,
             probe->entry.library, strerror(error_number));
}

static struct argus_error *programs_start(struct programs *programs,
                                          const struct backend_options *options, uint32_t cpu_count,
                                          uint32_t slot_count)
{
    struct btf *btf;
    struct argus_error *error = kernel_btf_load(&btf);
    if (error)
        return error;
    error = open_object(programs);
    if (!error)
        error = choose_programs(programs, btf, options->categories);
    if (!error)
        error = probes_create(programs->object, btf,
                              options->categories & CATEGORY_BIT(CATEGORY_PROBES) ? options->probes
                                                                                  : NULL,
                              &programs->probes);
    if (!error)
        error = configure(programs, btf, options, cpu_count, slot_count);
    btf__free(btf);
    if (!error)
        error = load(programs);
    if (!error)
        error = snapshots_choose(programs->object, options);
    if (!error)
        error = attach(programs);
    if (!error)
        error = probes_attach(programs->probes, probe_refused, programs);
    if (!error && options->rate_hz)
        error = attach_event_everywhere(programs,
                                        (struct cpu_event){"on_sample", "cpu samples",
                                                           PERF_COUNT_SW_CPU_CLOCK,
                                                           1000000000ull / options->rate_hz},
                                        cpu_count);
    if (!error && options->categories & CATEGORY_BIT(CATEGORY_BLOCK))
        error =
            attach_event_everywhere(programs,
                                    (struct cpu_event){"on_major_fault", "addresses of page faults",
                                                       PERF_COUNT_SW_PAGE_FAULTS_MAJ, 1},
                                    cpu_count);
    return error;
}

struct argus_error *programs_create(const struct backend_options *options, uint32_t cpu_count,
                                    uint32_t slot_count, struct programs **ret)
{
    struct programs *programs = calloc(1, sizeof(*programs));
    if (!programs)
        return argus_error_memory();
    struct argus_error *error = programs_start(programs, options, cpu_count, slot_count);
    if (error) {
        programs_destroy(programs);
        return error;
    }
    *ret = programs;
    return NULL;
}

void programs_detach(struct programs *programs)
{
    probes_mute(programs->probes);
    /* One after the other, each waits for a grace period: those without which the others' records mean nothing go last. */
    for (size_t i = programs->links.length; i > 0; i--)
        bpf_link__destroy(programs->links.data[i - 1]);
    vec_deinit(&programs->links);
}

void programs_release(struct programs *programs)
{
    programs_detach(programs);
    probes_destroy(programs->probes);
    programs->probes = NULL;
}

void programs_destroy(struct programs *programs)
{
    if (!programs)
        return;
    programs_detach(programs);
    probes_destroy(programs->probes);
    bpf_object__close(programs->object);
    for (size_t i = 0; i < programs->notes.length; i++)
        free((char *)programs->notes.data[i]);
    vec_deinit(&programs->notes);
    free(programs);
}

struct bpf_object *programs_object(const struct programs *programs)
{
    return programs->object;
}

int programs_map(const struct programs *programs, const char *name)
{
    struct bpf_map *map = find_map(programs, name);
    return map ? bpf_map__fd(map) : -1;
}

uint64_t programs_missed(const struct programs *programs)
{
    uint64_t missed = 0;
    struct bpf_program *program;
    bpf_object__for_each_program(program, programs->object)
    {
        struct bpf_prog_info info = {0};
        uint32_t bytes = sizeof(info);
        int fd = bpf_program__fd(program);
        if (fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &bytes) == 0)
            missed += info.recursion_misses;
    }
    return missed;
}

size_t programs_notes(const struct programs *programs, const char *const **ret)
{
    *ret = programs->notes.data;
    return programs->notes.length;
}
