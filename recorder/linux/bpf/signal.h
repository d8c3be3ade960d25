/* Signals: sender, receiver and number, and when a thread takes the signal. */
#ifndef ARGUS_BPF_SIGNAL_H
#define ARGUS_BPF_SIGNAL_H

#include "context.h"
#include "interrupt.h"

/* include/linux/signal_types.h: instead of an address. */
#define SIGNAL_FROM_USER   0
#define SIGNAL_FROM_KERNEL 1
#define SI_KERNEL          0x80

static __always_inline uint32_t signal_code(struct kernel_siginfo *info)
{
    if ((uint64_t)info == SIGNAL_FROM_USER)
        return 0;
    return (uint64_t)info == SIGNAL_FROM_KERNEL ? SI_KERNEL
                                                : (uint32_t)BPF_CORE_READ(info, si_code);
}

#define SIGNAL_IGNORED 1 /* include/trace/events/signal.h, TRACE_SIGNAL_IGNORED */

/* Ignored signals have no effect and are left out: some programs get thousands of them a second
 * (SIGPIPE). */
SEC("raw_tp/signal_generate")
int on_signal_generate(struct bpf_raw_tracepoint_args *ctx)
{
    struct task_struct *target = (void *)ctx->args[2];
    if (ctx->args[4] == SIGNAL_IGNORED)
        return 0;
    struct task_struct *task = bpf_get_current_task_btf();
    struct moment now = moment_now(task);
    uint64_t to_process = (uint32_t)ctx->args[3] != 0, result = (uint8_t)ctx->args[4];
    uint64_t code = signal_code((void *)ctx->args[1]);
    emit(&now, ARGUS_ID_SIGNAL_SENT, (uint32_t)ctx->args[0],
         (uint32_t)BPF_CORE_READ(target, pid) | to_process << 32, result | code << 32,
         context_now(task));
    return 0;
}

SEC("raw_tp/signal_deliver")
int on_signal_deliver(struct bpf_raw_tracepoint_args *ctx)
{
    struct k_sigaction *action = (void *)ctx->args[2];
    return emit_plain(ARGUS_ID_SIGNAL_DELIVERED, (uint32_t)ctx->args[0],
                      (uint64_t)BPF_CORE_READ(action, sa.sa_handler),
                      signal_code((void *)ctx->args[1]), 0);
}

#endif
