/* Work queues: work that one context queues and a kernel worker thread does. The address of the
 * work links both ends. */
#ifndef ARGUS_BPF_WORK_H
#define ARGUS_BPF_WORK_H

#include "context.h"
#include "interrupt.h"

SEC("raw_tp/workqueue_queue_work")
int on_work_queued(struct bpf_raw_tracepoint_args *ctx)
{
    struct work_struct *work = (void *)ctx->args[2];
    struct task_struct *task = bpf_get_current_task_btf();
    struct moment now = moment_now(task);
    emit(&now, ARGUS_ID_WORK_QUEUED, (uint64_t)work, (uint64_t)BPF_CORE_READ(work, func), 0,
         context_now(task));
    return 0;
}

SEC("raw_tp/workqueue_execute_start")
int on_work_start(struct bpf_raw_tracepoint_args *ctx)
{
    struct work_struct *work = (void *)ctx->args[0];
    return emit_plain(ARGUS_ID_WORK | ARGUS_FUNC_START, (uint64_t)work,
                      (uint64_t)BPF_CORE_READ(work, func), 0, 0);
}

/* The work may have freed itself: only its address is left. */
SEC("raw_tp/workqueue_execute_end")
int on_work_end(struct bpf_raw_tracepoint_args *ctx)
{
    return emit_plain(ARGUS_ID_WORK | ARGUS_FUNC_END, ctx->args[0], 0, 0, 0);
}

#endif
