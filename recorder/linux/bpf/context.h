/* The context in which an event happens: a thread's own kernel code, a softirq, a hard interrupt.
 *
 * On x86 the preemption count is a per-cpu variable. Its address cannot be looked up by name if
 * kallsyms omits data symbols. But BTF has its distance to `hrtimer_bases`, another per-cpu
 * variable, whose address is in every timer. So the first timer that fires on a CPU reveals the
 * address of that CPU's count (interrupt.h). Until then the context is unknown.
 *
 * A real-time kernel runs softirqs in threads, which can be preempted; there each thread has its
 * own count for them.
 */
#ifndef ARGUS_BPF_CONTEXT_H
#define ARGUS_BPF_CONTEXT_H

#include "ring.h"

/* include/linux/preempt.h: the bits of the preemption count. Since Linux 7.x bits 16 to 23 count
 * how often interrupts were disabled, and the bits of hard interrupts are above them, where no bit
 * was used before: the first hard interrupt shows which layout the kernel has. */
#define PREEMPT_NMI          0x00f00000
#define PREEMPT_HARDIRQ      0x000f0000
#define PREEMPT_HIGH_NMI     0x70000000
#define PREEMPT_HIGH_HARDIRQ 0x0f000000
/* 0x200 only means that softirqs are disabled. */
#define PREEMPT_SERVING 0x00000100 /* a softirq runs */

uint32_t preempt_bits_are_high;

static __always_inline uint32_t context_of_count(uint32_t count)
{
    if (count & (PREEMPT_HIGH_NMI | PREEMPT_HIGH_HARDIRQ)) {
        preempt_bits_are_high = 1;
        return count & PREEMPT_HIGH_NMI ? ARGUS_CONTEXT_NMI : ARGUS_CONTEXT_HARDIRQ;
    }
    if (!preempt_bits_are_high && count & PREEMPT_NMI)
        return ARGUS_CONTEXT_NMI;
    if (!preempt_bits_are_high && count & PREEMPT_HARDIRQ)
        return ARGUS_CONTEXT_HARDIRQ;
    return count & PREEMPT_SERVING ? ARGUS_CONTEXT_SOFTIRQ : ARGUS_CONTEXT_TASK;
}

/* PREEMPT_SERVING, on a real-time kernel that serves a softirq; 0 on every other kernel, where the
 * preemption count has that bit. */
static __always_inline uint32_t realtime_serving(struct task_struct *task)
{
    if (!bpf_core_field_exists(struct task_struct___realtime, softirq_disable_cnt))
        return 0;
    return (uint32_t)kernel_read(task_struct___realtime, task, softirq_disable_cnt) &
           PREEMPT_SERVING;
}

static __always_inline uint32_t context_now(struct task_struct *task)
{
#if defined(__TARGET_ARCH_arm64)
    return context_of_count((uint32_t)task->thread_info.preempt_count | realtime_serving(task));
#else
    uint32_t cpu, count;
    struct bpf_cpu *state = this_cpu(&cpu);
    if (!settings.has_preempt_count || !state || !state->timer_base)
        return ARGUS_CONTEXT_UNKNOWN;
    const void *place = (void *)(state->timer_base + settings.preempt_count_offset);
    if (bpf_probe_read_kernel(&count, sizeof(count), place) < 0)
        return ARGUS_CONTEXT_UNKNOWN;
    return context_of_count(count | realtime_serving(task));
#endif
}

#endif
