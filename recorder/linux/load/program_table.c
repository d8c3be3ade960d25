#include "linux/load/program_table.h"

#include "linux/shared.h"

#define NO_SETTING  PROGRAM_NO_SETTING
#define FIELD(name) offsetof(struct bpf_settings, name)

#define ROW(category, program, tracepoint, lost)                                                   \
    {                                                                                              \
        CATEGORY_##category, program, tracepoint, lost, false, NO_SETTING, NO_SETTING              \
    }
#define REQUIRED(category, program, tracepoint, lost)                                              \
    {                                                                                              \
        CATEGORY_##category, program, tracepoint, lost, true, NO_SETTING, NO_SETTING               \
    }
/* `field` of struct bpf_settings tells the other programs that this one runs. */
#define TOGETHER(category, program, tracepoint, field, lost)                                       \
    {                                                                                              \
        CATEGORY_##category, program, tracepoint, lost, false, FIELD(field), NO_SETTING            \
    }
/* Replaces the programs of setting `field` on kernels without their tracepoints. */
#define INSTEAD(category, program, tracepoint, field, lost)                                        \
    {                                                                                              \
        CATEGORY_##category, program, tracepoint, lost, false, NO_SETTING, FIELD(field)            \
    }

/* To add a tracepoint: write its program in bpf/, and add a row. A row of a category that is
 * switched off is not loaded. A row whose tracepoint the kernel lacks, or whose program it refuses,
 * is left out with a note (program_load.c). */
const struct program_row program_table[] = {
    REQUIRED(SCHED, "on_switch", "sched_switch", "no context switches"),
    REQUIRED(SCHED, "on_waking", "sched_waking", "no wake-ups"),
    ROW(SCHED, "on_wakeup_new", "sched_wakeup_new", "the first wake-up of a new thread is missing"),
    ROW(SYSCALLS, "on_sys_enter", "sys_enter", "no system calls"),
    ROW(SYSCALLS, "on_sys_exit", "sys_exit", "no results of system calls"),
    ROW(SYSCALLS, "on_compat_enter", NULL, "no system calls of 32-bit programs"),
    ROW(SYSCALLS, "on_compat_exit", NULL, "no results of system calls of 32-bit programs"),
    ROW(SCHED, "on_fork", "sched_process_fork", "no fork edges"),
    ROW(SCHED, "on_exec", "sched_process_exec", "programs keep the name of their parent"),
    ROW(SCHED, "on_exit", "sched_process_exit", "threads never end"),
    ROW(SCHED, "on_rename", "task_rename", "new thread names are missed"),
    ROW(INTERRUPTS, "on_irq_entry", "irq_handler_entry", "interrupts count as time of threads"),
    ROW(INTERRUPTS, "on_irq_exit", "irq_handler_exit", "interrupts count as time of threads"),
    ROW(INTERRUPTS, "on_softirq_entry", "softirq_entry", "softirqs count as time of threads"),
    ROW(INTERRUPTS, "on_softirq_exit", "softirq_exit", "softirqs count as time of threads"),
    ROW(TIMERS, "on_timer_start", "hrtimer_start", "no timer edges"),
    ROW(TIMERS, "on_timer_cancel", "hrtimer_cancel", "cancelled timers seem armed"),
    ROW(TIMERS, "on_timer_expire", "hrtimer_expire_entry", "no timer edges"),
    ROW(TIMERS, "on_timer_expired", "hrtimer_expire_exit", "no timer edges"),
    ROW(TIMERS, "on_wheel_start", "timer_start", "no edges of coarse timers"),
    ROW(TIMERS, "on_wheel_cancel", "timer_cancel", "cancelled coarse timers seem armed"),
    ROW(TIMERS, "on_wheel_expire", "timer_expire_entry", "no edges of coarse timers"),
    ROW(TIMERS, "on_wheel_expired", "timer_expire_exit", "no edges of coarse timers"),
    ROW(TIMERS, "on_itimer_set", "itimer_state", "no edges of cpu time timers"),
    ROW(TIMERS, "on_itimer_expire", "itimer_expire", "no edges of cpu time timers"),
    ROW(WORK, "on_work_queued", "workqueue_queue_work", "no edges of work queues"),
    ROW(WORK, "on_work_start", "workqueue_execute_start", "no edges of work queues"),
    ROW(WORK, "on_work_end", "workqueue_execute_end", "work in a softirq never ends"),
    ROW(BLOCK, "on_block_issue", "block_rq_issue", "no edges of disks"),
    ROW(BLOCK, "on_block_insert", "block_rq_insert",
        "disk requests that a kernel worker issues belong to the worker"),
    ROW(BLOCK, "on_block_complete", "block_rq_complete", "no edges of disks"),
    ROW(SCHED, "on_reclaim_begin", "mm_vmscan_direct_reclaim_begin",
        "threads that must free memory first are not known"),
    ROW(SCHED, "on_reclaim_end", "mm_vmscan_direct_reclaim_end",
        "threads that must free memory first are not known"),
    ROW(SCHED, "on_group_reclaim_begin", "mm_vmscan_memcg_reclaim_begin",
        "control groups at their memory limit are not known"),
    ROW(SCHED, "on_group_reclaim_end", "mm_vmscan_memcg_reclaim_end",
        "control groups at their memory limit are not known"),
    ROW(SCHED, "on_compaction_begin", "mm_compaction_begin",
        "threads that must move memory first are not known"),
    ROW(SCHED, "on_compaction_end", "mm_compaction_end",
        "threads that must move memory first are not known"),
    ROW(SIGNALS, "on_signal_generate", "signal_generate",
        "senders of signals are known by their calls only"),
    ROW(SIGNALS, "on_signal_deliver", "signal_deliver",
        "when a running thread took a signal is not known"),
    TOGETHER(MESSAGES, "on_data_ready", "sk_data_ready", has_data_ready,
             "which message of a unix socket was sent when is not always known"),
    ROW(MESSAGES, "on_copy_datagram", "skb_copy_datagram_iovec",
        "messages of unix sockets have no receiver"),
    TOGETHER(MESSAGES, "on_send_length", "sock_send_length", has_socket_lengths,
             "messages sent over TCP are read later, when another may have followed"),
    ROW(MESSAGES, "on_tcp_step", "tcp_sendmsg_locked",
        "which of several writers of one TCP socket was first is not always known"),
    TOGETHER(MESSAGES, "on_receive_length", "sock_recv_length", has_socket_lengths,
             "lengths of messages are read later, when another may have followed"),
    INSTEAD(MESSAGES, "on_consume", "consume_skb", has_socket_lengths,
            "messages over UDP have no receiver"),
    ROW(MESSAGES, "on_net_queue", "net_dev_queue", "messages over UDP have no sender"),
    ROW(MESSAGES, "on_udp_dropped", "udp_fail_queue_rcv_skb",
        "UDP messages that did not fit into a queue seem unread"),
    ROW(SCHED, "on_sample", NULL, "no cpu samples"),
    ROW(BLOCK, "on_major_fault", NULL, "addresses of page faults are unknown"),
    ROW(SCHED, "on_flag", NULL, "data flags cannot be watched"),
    ROW(STACKS, "on_waiting", NULL,
        "stacks of waits that last when the recording ends are those of frame pointers"),
    ROW(PROBES, "on_probe", NULL, "no callbacks and no user input"),
};

const size_t program_table_length = sizeof(program_table) / sizeof(program_table[0]);

_Static_assert(sizeof(program_table) / sizeof(program_table[0]) <= PROGRAM_MOST, "too many rows");
