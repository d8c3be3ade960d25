/* Cpu samples: a clock interrupt on every cpu at the chosen rate, with the stacks of the
 * interrupted thread. */
#ifndef ARGUS_BPF_SAMPLE_H
#define ARGUS_BPF_SAMPLE_H

#include "kernel_types.h"
#include "memory.h"
#include "ring.h"
#include "stack.h"

SEC("perf_event")
int on_sample(uint64_t *ctx)
{
    struct task_struct *task = bpf_get_current_task_btf();
    if (task->pid == 0 || is_own(task))
        return 0;
    struct moment now = moment_now(task);
    uint64_t address = ctx[ARCH_SAMPLE_IP], user = 0, kernel = 0;
    if (!(task->flags & PF_KTHREAD))
        user = stack_take_whole(ctx, STACK_USER_SAMPLE);
    if ((int64_t)address < 0)
        kernel = stack_take_kernel(ctx, STACK_USER_SAMPLE, 0);
    emit(&now, ARGUS_ID_SAMPLE, user, kernel, address, 0);
    emit_memory_size(&now);
    return 0;
}

#endif
