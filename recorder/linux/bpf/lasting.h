/* Threads that are in a long wait when a recording ends: their stacks were not copied yet (late.h).
 * The kernel goes through all tasks and calls this program for each (a BPF iterator), the recorder
 * reads what it writes, and copies the stacks. The registers of a thread that sleeps in the kernel
 * lie at the top of its kernel stack.
 */
#ifndef ARGUS_BPF_LASTING_H
#define ARGUS_BPF_LASTING_H

#include "late.h"
#include "scheduler.h"

static __always_inline bool waits_for_long(const struct bpf_wait *wait, uint32_t tid)
{
    return wait && wait->tid == tid && wait->since_ns &&
           bpf_ktime_get_ns() - wait->since_ns >= settings.late_ns;
}

SEC("iter/task")
int on_waiting(struct bpf_iter__task *ctx)
{
    struct task_struct *task = ctx->task;
    if (!task || !late_is_on() || task->flags & PF_KTHREAD)
        return 0;
    const struct bpf_wait *wait = wait_of((uint32_t)task->pid);
    struct mm_struct *mm = task->mm;
    if (!mm || !waits_for_long(wait, (uint32_t)task->pid))
        return 0;
    struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
    struct bpf_waiting waiting = {.pid = (uint32_t)task->tgid, .tid = (uint32_t)task->pid};
    waiting.since_ns = wait->since_ns;
    waiting.first_ns = wait->first_ns;
    arch_copy_registers(waiting.registers, regs);
    bool is_32_bit = arch_is_32_bit(regs);
    waiting.thread_pointer = arch_thread_pointer(task, is_32_bit);
    waiting.ranges = ranges_of(mm, waiting.registers[BPF_REGISTER_SP], is_32_bit);
    waiting.end = stack_end(task, waiting.registers[BPF_REGISTER_SP], is_32_bit);
    bpf_seq_write(ctx->meta->seq, &waiting, sizeof(waiting));
    return 0;
}

#endif
