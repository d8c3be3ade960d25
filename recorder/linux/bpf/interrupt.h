/* Interrupts, softirqs and high-resolution timers. They belong to the machine, not to the thread
 * that they interrupt. */
#ifndef ARGUS_BPF_INTERRUPT_H
#define ARGUS_BPF_INTERRUPT_H

#include "kernel_read.h"
#include "ring.h"

static __always_inline int emit_plain(uint32_t debugid, uint64_t arg1, uint64_t arg2, uint64_t arg3,
                                      uint64_t arg4)
{
    struct moment now = moment_now(bpf_get_current_task_btf());
    emit(&now, debugid, arg1, arg2, arg3, arg4);
    return 0;
}

SEC("raw_tp/irq_handler_entry")
int on_irq_entry(struct bpf_raw_tracepoint_args *ctx)
{
    return emit_plain(ARGUS_ID_INTERRUPT | ARGUS_FUNC_START, (uint32_t)ctx->args[0], 0, 0, 0);
}

SEC("raw_tp/irq_handler_exit")
int on_irq_exit(struct bpf_raw_tracepoint_args *ctx)
{
    return emit_plain(ARGUS_ID_INTERRUPT | ARGUS_FUNC_END, (uint32_t)ctx->args[0], 0, 0, 0);
}

SEC("raw_tp/softirq_entry")
int on_softirq_entry(struct bpf_raw_tracepoint_args *ctx)
{
    return emit_plain(ARGUS_ID_SOFTIRQ | ARGUS_FUNC_START, (uint32_t)ctx->args[0], 0, 0, 0);
}

SEC("raw_tp/softirq_exit")
int on_softirq_exit(struct bpf_raw_tracepoint_args *ctx)
{
    return emit_plain(ARGUS_ID_SOFTIRQ | ARGUS_FUNC_END, (uint32_t)ctx->args[0], 0, 0, 0);
}

/* The timer behind CPU samples belongs to the recorder, so it is not recorded. */
static __always_inline bool is_own_timer(struct hrtimer *timer)
{
    return settings.own_timer_function &&
           (uint64_t)kernel_read(hrtimer, timer, function) == settings.own_timer_function;
}

SEC("raw_tp/hrtimer_start")
int on_timer_start(struct bpf_raw_tracepoint_args *ctx)
{
    struct hrtimer *timer = (void *)ctx->args[0];
    if (is_own_timer(timer))
        return 0;
    return emit_plain(ARGUS_ID_TIMER_ARMED, (uint64_t)timer,
                      (uint64_t)kernel_read(hrtimer, timer, function),
                      kernel_read(hrtimer, timer, node.expires), (uint32_t)ctx->args[1]);
}

SEC("raw_tp/hrtimer_cancel")
int on_timer_cancel(struct bpf_raw_tracepoint_args *ctx)
{
    if (is_own_timer((void *)ctx->args[0]))
        return 0;
    return emit_plain(ARGUS_ID_TIMER_CANCEL, ctx->args[0], 0, 0, 0);
}

/* See context.h: the preemption count is found from here. */
static __always_inline void remember_timer_base(struct hrtimer *timer)
{
    uint32_t cpu;
    struct bpf_cpu *state = this_cpu(&cpu);
    if (!state || state->timer_base)
        return;
    struct hrtimer_cpu_base *base = BPF_CORE_READ(timer, base, cpu_base);
    if (BPF_CORE_READ(base, cpu) == cpu)
        state->timer_base = (uint64_t)base;
}

/* The second argument points to the time (include/trace/events/timer.h); Linux 7.3 passes the time
 * itself, which is no kernel address. */
static __always_inline int64_t expiry_ns(uint64_t argument)
{
    int64_t now_ns = (int64_t)argument;
    if (now_ns < 0 && bpf_probe_read_kernel(&now_ns, sizeof(now_ns), (void *)argument) < 0)
        return 0;
    return now_ns;
}

SEC("raw_tp/hrtimer_expire_entry")
int on_timer_expire(struct bpf_raw_tracepoint_args *ctx)
{
    struct hrtimer *timer = (void *)ctx->args[0];
    remember_timer_base(timer);
    if (is_own_timer(timer))
        return 0;
    return emit_plain(ARGUS_ID_TIMER_FIRED | ARGUS_FUNC_START, (uint64_t)timer,
                      (uint64_t)kernel_read(hrtimer, timer, function), expiry_ns(ctx->args[1]), 0);
}

SEC("raw_tp/hrtimer_expire_exit")
int on_timer_expired(struct bpf_raw_tracepoint_args *ctx)
{
    if (is_own_timer((void *)ctx->args[0]))
        return 0;
    return emit_plain(ARGUS_ID_TIMER_FIRED | ARGUS_FUNC_END, ctx->args[0], 0, 0, 0);
}

#endif
