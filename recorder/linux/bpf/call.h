/* The system call that a thread is in: its number in the native table, and its arguments.
 *
 * A 32-bit program has its own table, passes arguments in other registers, and has multiplexed
 * calls (socketcall, ipc) whose arguments are in memory. Here each of them is translated into the
 * call that a native program would make, so that no other code has to distinguish them. The table
 * comes from linux/compat_calls.c. Data in memory has the native layout, except arrays of buffers
 * (struct iovec, struct mmsghdr), which are read by `is_compat`.
 */
#ifndef ARGUS_BPF_CALL_H
#define ARGUS_BPF_CALL_H

#include "ring.h"

struct call {
    uint64_t number;
    uint64_t arguments[6];
    bool is_compat;
};

static __always_inline struct call call_native(struct pt_regs *regs, uint64_t number)
{
    return (struct call){
        .number = number,
        .arguments = {arch_argument0(regs), arch_argument1(regs), arch_argument2(regs),
                      arch_argument3(regs), arch_argument4(regs), arch_argument5(regs)},
    };
}

/* The native call for a socketcall() or ipc() operation; 0: unknown. Counted from 1, as in the
 * table. */
static __always_inline uint64_t compat_part(const volatile uint16_t *table, uint64_t operation)
{
    return operation < COMPAT_PARTS ? table[bounded(operation, COMPAT_PARTS)] : 0;
}

static __always_inline void compat_read_words(struct call *call, uint64_t address)
{
    uint32_t words[6] = {0};
    /* the words after a short list may be on an unmapped page */
    if (bpf_probe_read_user(words, sizeof(words), (const void *)address) < 0)
        bpf_probe_read_user(words, sizeof(uint32_t) * 3, (const void *)address);
#pragma unroll
    for (uint64_t i = 0; i < 6; i++)
        call->arguments[i] = words[i];
}

/* ipc(operation, first, second, third, pointer, fifth), sys_ipc() in ipc/syscall.c. */
static __always_inline void compat_ipc_arguments(struct call *call)
{
    uint64_t first = call->arguments[1], second = call->arguments[2];
    call->arguments[3] = call->arguments[3] ? call->arguments[3] : call->arguments[5];
    call->arguments[0] = first;
    call->arguments[1] = call->arguments[4];
    call->arguments[2] = second;
}

/* The call of a 32-bit program. False: its number is in no table. Not inlined, so that it costs
 * native calls nothing. */
static __attribute__((noinline)) bool compat_call(struct pt_regs *regs, struct call *ret)
{
    uint64_t number = (uint32_t)arch_syscall_nr(regs);
    ret->is_compat = true;
    ret->arguments[0] = arch_compat_argument0(regs);
    ret->arguments[1] = arch_compat_argument1(regs);
    ret->arguments[2] = arch_compat_argument2(regs);
    ret->arguments[3] = arch_compat_argument3(regs);
    ret->arguments[4] = arch_compat_argument4(regs);
    ret->arguments[5] = arch_compat_argument5(regs);
    uint64_t row = number < BPF_SYSCALLS ? settings.compat_calls[bounded(number, BPF_SYSCALLS)] : 0;
    uint64_t form = row & ~COMPAT_NUMBER, native = row & COMPAT_NUMBER;
    if (form == COMPAT_SOCKETCALL) {
        native = compat_part(settings.compat_sockets, ret->arguments[0]);
        compat_read_words(ret, ret->arguments[1]);
    } else if (form == COMPAT_IPC) {
        native = compat_part(settings.compat_ipc, ret->arguments[0] & 0xffff);
        compat_ipc_arguments(ret);
    } else if (form == COMPAT_IN_MEMORY) {
        compat_read_words(ret, ret->arguments[0]);
    }
    if (number == 0xffffffff) /* sigreturn restores the registers of the interrupted code */
        native = ARCH_RT_SIGRETURN + 1;
    ret->number = native - 1;
    return native != 0;
}

/* The system call in progress of `task`, the current task; false: none, or an unknown one. */
static __always_inline bool call_now(struct task_struct *task, struct call *ret)
{
    struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
    if (arch_is_compat(task)) /* only while it is in such a call */
        return compat_call(regs, ret);
    bool in_call = arch_in_syscall(regs);
    /* A compiler may read it before it calls this function. */
    *ret = (struct call){.number = BPF_SYSCALLS};
    if (in_call)
        *ret = call_native(regs, arch_syscall_nr(regs));
    return in_call;
}

#endif
