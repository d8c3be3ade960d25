/* Limits on a thread's use of CPUs: affinity, and the CPU quota of its control group (cpu.max).
 *
 * The record of a preempted thread has both limits, if there are any. A group that has used up its
 * quota is throttled: the kernel takes its threads off their cpus, runnable, until the quota's next
 * period. `throttle_count` of a run queue counts the throttled groups from its own outward, so the
 * outermost queue where it is not 0 is that of a group whose own quota is used up. All of this is
 * read only where a thread is preempted.
 */
#ifndef ARGUS_BPF_CPU_LIMITS_H
#define ARGUS_BPF_CPU_LIMITS_H

#include "kernel_read.h"
#include "process.h"
#include "ring.h"

#define MOST_GROUPS 8 /* nested groups */

/* The run queue of the outermost throttled group that contains `task`; NULL: none. */
static __always_inline const void *throttled_queue(struct task_struct *task)
{
    const void *found = NULL;
    if (!bpf_core_field_exists(struct cfs_rq, throttle_count))
        return NULL;
    const void *entity = kernel_place(task_struct, task, se);
    for (int i = 0; i < MOST_GROUPS && entity; i++) {
        const void *queue = kernel_read(sched_entity, entity, cfs_rq);
        if (!queue || !kernel_read(cfs_rq, queue, throttle_count))
            break;
        found = queue;
        entity = kernel_read(sched_entity, entity, parent);
    }
    return found;
}

/* A bit for each of the first 64 cpus that `task` may use; 0: it may use all. */
static __always_inline uint64_t allowed_cpus(struct task_struct *task)
{
    uint32_t count = (uint32_t)kernel_read(task_struct, task, nr_cpus_allowed);
    return count < settings.cpu_count ? kernel_word(kernel_place(task_struct, task, cpus_mask)) : 0;
}

static __always_inline void emit_throttled(const struct moment *now, uint64_t cpus,
                                           const void *queue)
{
    const void *group = kernel_read(cfs_rq, queue, tg);
    const void *cgroup =
        kernel_read(cgroup_subsys_state, kernel_place(task_group, group, css), cgroup);
    const void *node = kernel_read(cgroup, cgroup, kn);
    const void *bandwidth = kernel_place(task_group, group, cfs_bandwidth);
    emit(now, ARGUS_ID_CPU_LIMITS, cpus, kernel_read(kernfs_node, node, id),
         kernel_read(cfs_bandwidth, bandwidth, quota),
         (uint64_t)kernel_read(cfs_bandwidth, bandwidth, period));
    union comm name = {0};
    bpf_probe_read_kernel_str(name.text, sizeof(name.text), kernel_read(kernfs_node, node, name));
    emit(now, ARGUS_ID_CPU_GROUP, name.words[0], name.words[1], name.words[2], name.words[3]);
}

/* Of the current thread, which is about to leave the cpu, runnable. */
static __always_inline void emit_cpu_limits(const struct moment *now, struct task_struct *task)
{
    if (task->flags & PF_KTHREAD || is_own(task))
        return;
    uint64_t cpus = allowed_cpus(task);
    const void *queue = throttled_queue(task);
    if (queue)
        emit_throttled(now, cpus, queue);
    else if (cpus)
        emit(now, ARGUS_ID_CPU_LIMITS, cpus, 0, 0, 0);
}

#endif
