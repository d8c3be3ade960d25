/* Threads that are in a long wait when a recording ends: their stacks were not copied yet (late.h).
 * The kernel goes through all tasks and calls this program for each (a BPF iterator), the recorder
 * reads what it writes, and copies the stacks. The registers of a thread that sleeps in the kernel
 * lie at the top of its kernel stack, and tell in which system call it is: a thread that has waited
 * since before the recording has no other record.
 */
#ifndef ARGUS_BPF_LASTING_H
#define ARGUS_BPF_LASTING_H

#include "late.h"
#include "scheduler.h"

/* A thread without an entry has not begun to wait since the recording began. */
static __always_inline bool waits_for_long(const struct bpf_wait *wait, struct task_struct *task)
{
    if (!wait)
        return false;
    if (wait->tid != (uint32_t)task->pid)
        return state_of(task) && !is_own(task);
    return wait->since_ns && bpf_ktime_get_ns() - wait->since_ns >= settings.late_ns;
}

static __always_inline void note_call(struct bpf_waiting *waiting, struct pt_regs *regs,
                                      bool is_32_bit)
{
    bool is_native = !is_32_bit && arch_in_native_call(regs);
    waiting->call = is_native ? (uint32_t)arch_syscall_nr(regs) : BPF_CALL_UNKNOWN;
    waiting->argument[0] = is_native ? arch_argument0(regs) : 0;
    waiting->argument[1] = is_native ? arch_argument1(regs) : 0;
}

SEC("iter/task")
int on_waiting(struct bpf_iter__task *ctx)
{
    struct task_struct *task = ctx->task;
    if (!task || !late_is_on() || task->flags & PF_KTHREAD)
        return 0;
    const struct bpf_wait *wait = wait_of((uint32_t)task->pid);
    struct mm_struct *mm = task->mm;
    if (!mm || !waits_for_long(wait, task))
        return 0;
    bool is_known = wait->tid == (uint32_t)task->pid;
    struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
    struct bpf_waiting waiting = {.pid = (uint32_t)task->tgid, .tid = (uint32_t)task->pid};
    waiting.since_ns = is_known ? wait->since_ns : 0;
    waiting.first_ns = is_known ? wait->first_ns : 0;
    waiting.state = (uint32_t)state_of(task);
    arch_copy_registers(waiting.registers, regs);
    bool is_32_bit = arch_is_32_bit(regs);
    note_call(&waiting, regs, is_32_bit);
    waiting.thread_pointer = arch_thread_pointer(task, is_32_bit);
    waiting.ranges = ranges_of(mm, waiting.registers[BPF_REGISTER_SP], is_32_bit);
    waiting.end = stack_end(task, waiting.registers[BPF_REGISTER_SP], is_32_bit);
    bpf_seq_write(ctx->meta->seq, &waiting, sizeof(waiting));
    return 0;
}

#endif
