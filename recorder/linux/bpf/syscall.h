/* Every system call: number, arguments, result. The path that runs most often, so it decides before it copies and makes
 * two map lookups for a record. */
#ifndef ARGUS_BPF_SYSCALL_H
#define ARGUS_BPF_SYSCALL_H

#include "mapping.h"
#include "message_call.h"
#include "poller.h"
#include "ready.h"
#include "ring.h"

/* Whether `number` is one of the native table; 32-bit programs have other tables. */
static __always_inline bool is_native(struct task_struct *task, uint64_t number)
{
    if (!arch_is_compat(task) && number < ARCH_X32_BIT)
        return true;
    uint32_t cpu;
    struct bpf_cpu *state = this_cpu(&cpu);
    if (state)
        __sync_fetch_and_add(&state->compat_skipped, 1);
    return false;
}

/* The registers that the program entered the kernel with, which both tracepoints pass. The cast costs nothing, where the
 * helper for older kernels is a call. */
static __always_inline struct pt_regs *saved_registers(struct bpf_raw_tracepoint_args *ctx,
                                                       struct task_struct *task)
{
    if (settings.can_cast)
        return bpf_rdonly_cast((void *)ctx->args[0], bpf_core_type_id_kernel(struct pt_regs));
    return (void *)bpf_task_pt_regs(task);
}

SEC("raw_tp/sys_enter")
int on_sys_enter(struct bpf_raw_tracepoint_args *ctx)
{
    struct task_struct *task = bpf_get_current_task_btf();
    uint64_t number = ctx->args[1];
    if (is_own(task) || !is_native(task, number))
        return 0;
    struct pt_regs *regs = saved_registers(ctx, task);
    struct moment now = moment_now(task);
    poller_enters(&now, number);
    emit(&now, ARGUS_ID_SYSCALL(number & 0x3fff) | ARGUS_FUNC_START, arch_argument0(regs),
         arch_argument1(regs), arch_argument2(regs), arch_argument3(regs));
    if (!bit_is_set(settings.long_syscalls, number))
        return 0;
    emit(&now, ARGUS_ID_SYSCALL_MORE, number, arch_argument4(regs), arch_argument5(regs), 0);
    if (number == ARCH_FUTEX)
        emit_shared_futex(&now, regs);
    return 0;
}

SEC("raw_tp/sys_exit")
int on_sys_exit(struct bpf_raw_tracepoint_args *ctx)
{
    struct task_struct *task = bpf_get_current_task_btf();
    if (is_own(task))
        return 0;
    struct pt_regs *regs = saved_registers(ctx, task);
    uint64_t number = arch_syscall_nr(regs);
    if (number == (uint64_t)-1) /* rt_sigreturn restores the registers of the interrupted code */
        number = ARCH_RT_SIGRETURN;
    if (!is_native(task, number))
        return 0;
    int64_t result = ctx->args[1];
    uint64_t error_number = result < 0 && result >= -4095 ? -result : 0;
    struct moment now = moment_now(task);
    poller_returns(&now, number);
    messages_of_call(&now, regs, number, result);
    if (bit_is_set(settings.ready_syscalls, number))
        emit_ready(&now, regs, number, result);
    emit(&now, ARGUS_ID_SYSCALL(number & 0x3fff) | ARGUS_FUNC_END, error_number, result, 0,
         (uint32_t)task->tgid);
    return 0;
}

#endif
