/* The tracepoints that perf_event uses, and the functions that make records from them.
 *
 * perf_event passes only the tracepoint's own fields: numbers and names, but no kernel objects. So
 * data that the BPF programs read through pointers is missing here (objects, messages, lock words,
 * mappings); the backend's note says so. One thing is easier: every sample tells its context
 * (common_flags).
 */
#include "linux/perf/perf_handlers.h"

#define IN_TASK        "!(common_flags & 88)" /* see translation_context() */
#define NOT_IN_TASK    "common_flags & 88"
#define BLOCKS         "prev_state != 0 && prev_state != 256 && prev_pid != 0" /* 256: preempted */
#define DOES_NOT_BLOCK "prev_state == 0 || prev_state == 256 || prev_pid == 0"

/* To add a tracepoint: a function in perf_on_….c, which reads the row's fields by position, and a
 * row. */
/* clang-format off */
const struct perf_row perf_rows[] = {
    {"sched", "sched_switch", CATEGORY_SCHED, "no context switches",
     perf_on_switch, {"prev_state", "next_pid", "prev_prio", "next_prio", "?prev_comm"},
     {.required = true, .chain = PERF_CHAIN_BOTH, .filter = BLOCKS, .filter_rest = DOES_NOT_BLOCK}},
    {"sched", "sched_waking", CATEGORY_SCHED, "no wake-ups",
     perf_on_waking, {"pid", "prio"},
     {.required = true, .chain = PERF_CHAIN_USER, .filter = IN_TASK, .filter_rest = NOT_IN_TASK}},
    {"sched", "sched_wakeup_new", CATEGORY_SCHED, "the first wake-up of a new thread is missing",
     perf_on_wakeup_new, {"pid", "prio"},
     {.chain = PERF_CHAIN_USER, .filter = IN_TASK, .filter_rest = NOT_IN_TASK}},
    {"raw_syscalls", "sys_enter", CATEGORY_SYSCALLS, "no system calls",
     perf_on_sys_enter, {"id", "args"}, {.wants_bits = true}},
    {"raw_syscalls", "sys_exit", CATEGORY_SYSCALLS, "no results of system calls",
     perf_on_sys_exit, {"id", "ret"}, {.wants_bits = true}},
    {"task", "task_newtask", CATEGORY_SCHED, "no fork edges",
     perf_on_new_task, {"pid", "comm", "clone_flags"}, {0}},
    {"sched", "sched_process_exec", CATEGORY_SCHED, "programs keep the name of their parent",
     perf_on_exec, {"filename", "old_pid"}, {0}},
    {"sched", "sched_process_exit", CATEGORY_SCHED, "threads never end",
     perf_on_exit, {"?group_dead"}, {0}},
    {"task", "task_rename", CATEGORY_SCHED, "new thread names are missed",
     perf_on_rename, {"newcomm", "?pid"}, {0}},
    {"irq", "irq_handler_entry", CATEGORY_INTERRUPTS, "interrupts count as time of threads",
     perf_on_irq_entry, {"irq"}, {0}},
    {"irq", "irq_handler_exit", CATEGORY_INTERRUPTS, "interrupts count as time of threads",
     perf_on_irq_exit, {"irq"}, {0}},
    {"irq", "softirq_entry", CATEGORY_INTERRUPTS, "softirqs count as time of threads",
     perf_on_softirq_entry, {"vec"}, {0}},
    {"irq", "softirq_exit", CATEGORY_INTERRUPTS, "softirqs count as time of threads",
     perf_on_softirq_exit, {"vec"}, {0}},
    {"timer", "hrtimer_start", CATEGORY_TIMERS, "no timer edges",
     perf_on_timer_start, {"hrtimer", "function", "expires", "mode"}, {0}},
    {"timer", "hrtimer_cancel", CATEGORY_TIMERS, "cancelled timers seem armed",
     perf_on_timer_cancel, {"hrtimer"}, {0}},
    {"timer", "hrtimer_expire_entry", CATEGORY_TIMERS, "no timer edges",
     perf_on_timer_expire, {"hrtimer", "function", "now"}, {0}},
    {"timer", "hrtimer_expire_exit", CATEGORY_TIMERS, "no timer edges",
     perf_on_timer_expired, {"hrtimer"}, {0}},
    {"timer", "timer_start", CATEGORY_TIMERS, "no edges of coarse timers",
     perf_on_wheel_start, {"timer", "function", "expires", "now"}, {.filter = IN_TASK " && !(flags & 524288)"}},
    {"timer", "timer_cancel", CATEGORY_TIMERS, "cancelled coarse timers seem armed",
     perf_on_wheel_cancel, {"timer"}, {.filter = IN_TASK}},
    {"timer", "timer_expire_entry", CATEGORY_TIMERS, "no edges of coarse timers",
     perf_on_wheel_expire, {"timer", "function"}, {0}},
    {"timer", "timer_expire_exit", CATEGORY_TIMERS, "no edges of coarse timers",
     perf_on_wheel_expired, {"timer"}, {0}},
    {"timer", "itimer_state", CATEGORY_TIMERS, "no edges of cpu time timers",
     perf_on_itimer_set, {"which", "value_sec", "value_nsec", "interval_sec", "interval_nsec"}, {0}},
    {"timer", "itimer_expire", CATEGORY_TIMERS, "no edges of cpu time timers",
     perf_on_itimer_expire, {"which", "pid"}, {0}},
    {"workqueue", "workqueue_queue_work", CATEGORY_WORK, "no edges of work queues",
     perf_on_work_queued, {"work", "function"}, {0}},
    {"workqueue", "workqueue_execute_start", CATEGORY_WORK, "no edges of work queues",
     perf_on_work_start, {"work", "function"}, {0}},
    {"workqueue", "workqueue_execute_end", CATEGORY_WORK, "work in a softirq never ends",
     perf_on_work_end, {"work"}, {0}},
    {"block", "block_rq_issue", CATEGORY_BLOCK, "no edges of disks",
     perf_on_block_issue, {"dev", "sector", "bytes", "rwbs"}, {0}},
    {"block", "block_rq_complete", CATEGORY_BLOCK, "no edges of disks",
     perf_on_block_complete, {"dev", "sector", "nr_sector", "error"}, {0}},
    {"signal", "signal_generate", CATEGORY_SIGNALS, "senders of signals are known by their calls only",
     perf_on_signal_generate, {"sig", "code", "group", "pid", "result"}, {0}},
    {"signal", "signal_deliver", CATEGORY_SIGNALS, "when a running thread took a signal is not known",
     perf_on_signal_deliver, {"sig", "code", "sa_handler"}, {0}},
    {NULL, NULL, CATEGORY_SCHED, "no cpu samples",
     perf_on_sample, {NULL}, {.chain = PERF_CHAIN_BOTH}},
};
/* clang-format on */

const size_t perf_row_count = sizeof(perf_rows) / sizeof(perf_rows[0]);
