/* The timer wheel: the kernel's coarse timers, by which schedule_timeout(), sockets and delayed
 * work wait.
 *
 * It is busy: every acknowledged segment of a TCP stream moves a timer. Timers set in an interrupt
 * are internal maintenance of the kernel, and so are deferrable ones (which may be late while the
 * CPU idles). No system call has set them, so they are counted and left out before anything is
 * read. A timer that fires is always recorded, because wake-ups by timers must be distinguished
 * from those by devices.
 *
 * Expiries are ticks ("jiffies"); a record has them in ns of CLOCK_MONOTONIC like those of the
 * other timers.
 */
#ifndef ARGUS_BPF_TIMER_WHEEL_H
#define ARGUS_BPF_TIMER_WHEEL_H

#include "context.h"
#include "interrupt.h"

#define TIMER_DEFERRABLE 0x00080000 /* include/linux/timer.h */

static __always_inline bool is_upkeep(struct timer_list *timer, struct task_struct *task)
{
    uint32_t context = context_now(task);
    bool by_thread = context == ARGUS_CONTEXT_TASK || context == ARGUS_CONTEXT_UNKNOWN;
    if (by_thread && !(BPF_CORE_READ(timer, flags) & TIMER_DEFERRABLE))
        return is_own(task);
    uint32_t cpu;
    struct bpf_cpu *state = this_cpu(&cpu);
    if (state)
        __sync_fetch_and_add(&state->timers_skipped, 1);
    return true;
}

SEC("raw_tp/timer_start")
int on_wheel_start(struct bpf_raw_tracepoint_args *ctx)
{
    struct timer_list *timer = (void *)ctx->args[0];
    struct task_struct *task = bpf_get_current_task_btf();
    if (is_upkeep(timer, task))
        return 0;
    struct moment now = moment_now(task);
    int64_t ticks = (int64_t)(BPF_CORE_READ(timer, expires) - bpf_jiffies64());
    emit(&now, ARGUS_ID_TIMER_ARMED, (uint64_t)timer, (uint64_t)BPF_CORE_READ(timer, function),
         now.time_ns + ticks * settings.tick_ns, ARGUS_TIMER_WHEEL);
    return 0;
}

SEC("raw_tp/timer_cancel")
int on_wheel_cancel(struct bpf_raw_tracepoint_args *ctx)
{
    struct timer_list *timer = (void *)ctx->args[0];
    struct task_struct *task = bpf_get_current_task_btf();
    if (is_upkeep(timer, task))
        return 0;
    struct moment now = moment_now(task);
    emit(&now, ARGUS_ID_TIMER_CANCEL, (uint64_t)timer, 0, 0, ARGUS_TIMER_WHEEL);
    return 0;
}

SEC("raw_tp/timer_expire_entry")
int on_wheel_expire(struct bpf_raw_tracepoint_args *ctx)
{
    struct timer_list *timer = (void *)ctx->args[0];
    struct moment now = moment_now(bpf_get_current_task_btf());
    emit(&now, ARGUS_ID_TIMER_FIRED | ARGUS_FUNC_START, (uint64_t)timer,
         (uint64_t)BPF_CORE_READ(timer, function), now.time_ns, ARGUS_TIMER_WHEEL);
    return 0;
}

SEC("raw_tp/timer_expire_exit")
int on_wheel_expired(struct bpf_raw_tracepoint_args *ctx)
{
    return emit_plain(ARGUS_ID_TIMER_FIRED | ARGUS_FUNC_END, ctx->args[0], 0, 0, ARGUS_TIMER_WHEEL);
}

/* setitimer(): ITIMER_REAL is a high-resolution timer as well; the other two count cpu time and
 * have only these. */
static __always_inline uint64_t timespec_ns(struct timespec64 *time)
{
    return (uint64_t)BPF_CORE_READ(time, tv_sec) * 1000000000 + BPF_CORE_READ(time, tv_nsec);
}

SEC("raw_tp/itimer_state")
int on_itimer_set(struct bpf_raw_tracepoint_args *ctx)
{
    struct itimerspec64 *times = (void *)ctx->args[1];
    if (is_own(bpf_get_current_task_btf()))
        return 0;
    return emit_plain(ARGUS_ID_ITIMER_ARMED, (uint32_t)ctx->args[0], timespec_ns(&times->it_value),
                      timespec_ns(&times->it_interval), 0);
}

SEC("raw_tp/itimer_expire")
int on_itimer_expire(struct bpf_raw_tracepoint_args *ctx)
{
    struct pid *pid = (void *)ctx->args[1];
    return emit_plain(ARGUS_ID_ITIMER_FIRED, (uint32_t)ctx->args[0],
                      (uint32_t)BPF_CORE_READ(pid, numbers[0].nr), 0, 0);
}

#endif
