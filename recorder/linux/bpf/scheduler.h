/* Context switches, wake-ups and cpu samples, with the stacks and objects that belong to them. */
#ifndef ARGUS_BPF_SCHEDULER_H
#define ARGUS_BPF_SCHEDULER_H

#include "context.h"
#include "cpu_limits.h"
#include "kernel_read.h"
#include "lock.h"
#include "lock_name.h"
#include "message_old.h"
#include "message_pipe.h"
#include "naming.h"
#include "object.h"
#include "poller.h"
#include "ring.h"
#include "stack.h"

static __always_inline uint64_t state_of(struct task_struct *task)
{
    if (bpf_core_field_exists(struct task_struct, __state))
        return task->__state;
    return BPF_CORE_READ((struct task_struct___before_5_14 *)task, state);
}

/* The state that `task` is left in; 0 if it was preempted, even if it was about to block. */
static __always_inline uint64_t state_left(struct bpf_raw_tracepoint_args *ctx,
                                           struct task_struct *task)
{
    if (ctx->args[0])
        return 0;
    if (settings.state_is_argument)
        return (uint32_t)ctx->args[3];
    return state_of(task);
}

/* The stack of a preempted thread: it shows the progress of a program that makes few system
 * calls. */
static __always_inline void stack_of_preempted(struct bpf_raw_tracepoint_args *ctx,
                                               struct task_struct *task, const struct moment *now)
{
    if (!settings.call_stacks || switched_off || task->flags & PF_KTHREAD || !task->mm ||
        is_own(task))
        return;
    uint64_t user = stack_take_user(ctx, STACK_USER_SWITCH);
    if (user)
        emit(now, ARGUS_ID_STACK, user, 0, ARGUS_STACK_PREEMPTED, 0);
}

SEC("raw_tp/sched_switch")
int on_switch(struct bpf_raw_tracepoint_args *ctx)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct task_struct *next = (void *)ctx->args[2];
    struct moment now = moment_now(task);
    uint64_t state = state_left(ctx, task), begin = stack_of_begin(task);
    caller_forget();
    if (!state)
        emit_cpu_limits(&now, task);
    emit(&now, ARGUS_ID_SWITCH, state, (uint32_t)kernel_read(task_struct, next, pid),
         (uint32_t)task->prio, (uint32_t)kernel_read(task_struct, next, prio));
    if (late_is_on())
        late_comes((uint32_t)kernel_read(task_struct, next, pid), now.time_ns);
    if (!state)
        stack_of_preempted(ctx, task, &now);
    if (!state || state & ARGUS_LINUX_STATE_DEAD || task->flags & PF_KTHREAD || is_own(task))
        return 0;
    struct object object;
    struct call call;
    bool in_call = call_now(task, &call);
    if (in_call && emit_object(&now, &call, &object)) {
        if (object.kind == S_IFIFO)
            message_pipe_forget(&now);
        else
            emit_object_name(&now, &object);
    }
    if (in_call) {
        path_of_call(&now, &call);
        emit_lock(&now, &call);
    }
    if (settings.stacks && !(switched_off & BPF_LEFT_OUT_STACKS)) {
        struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
        if (late_is_on() && in_call)
            late_begins(&now);
        uint64_t user = in_call ? begin : 0;
        if (!user)
            user = stack_take_user_if(ctx, STACK_USER_SWITCH, !in_call);
        uint64_t kernel = KERNEL_STACK_HAS_NAME && in_call
                              ? stack_take_call(ctx, STACK_USER_SWITCH, STACK_SKIP_TRACING)
                              : stack_take_kernel(ctx, STACK_USER_SWITCH, STACK_SKIP_TRACING);
        emit(&now, ARGUS_ID_STACK, user, kernel, ARGUS_STACK_BLOCK, arch_stack_pointer(regs));
    }
    return 0;
}

static __always_inline void wake(struct bpf_raw_tracepoint_args *ctx, uint64_t is_new)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct task_struct *wakee = (void *)ctx->args[0];
    uint32_t context = context_now(task);
    if (is_own(task) && context == ARGUS_CONTEXT_TASK)
        return;
    if ((uint32_t)kernel_read(task_struct, wakee, tgid) == settings.own_tgid)
        return;
    struct moment now = moment_now(task);
    poller_woken((uint32_t)kernel_read(task_struct, wakee, pid), now.time_ns);
    emit(&now, ARGUS_ID_MAKE_RUNNABLE, (uint32_t)kernel_read(task_struct, wakee, pid),
         (uint32_t)kernel_read(task_struct, wakee, prio), is_new, context);
    if (context != ARGUS_CONTEXT_TASK || task->flags & PF_KTHREAD || wakee == task ||
        kernel_read(task_struct, wakee, flags) & PF_KTHREAD)
        return;
    struct object object;
    struct call call;
    bool in_call = call_now(task, &call);
    bool has_object = in_call && emit_object(&now, &call, &object);
    bool messages = has_object && !(switched_off & BPF_LEFT_OUT_CALLS);
    if (messages && object.kind == S_IFIFO)
        message_pipe_note(&now, &call, object.data, object.inode);
    else if (messages && settings.messages && !settings.has_data_ready &&
             (object.kind & 0xffffffff) == (S_IFSOCK | AF_UNIX << 16))
        message_old_woke(&now, &call, &object);
    if (settings.stacks && !(switched_off & BPF_LEFT_OUT_STACKS)) {
        uint64_t user = in_call ? stack_of_begin(task) : 0;
        bool late = !user && late_is_on() &&
                    late_waited((uint32_t)kernel_read(task_struct, wakee, pid), now.time_ns);
        if (!user)
            user = stack_take_user_if(ctx, STACK_USER_WAKE, late);
        emit(&now, ARGUS_ID_STACK, user, 0, ARGUS_STACK_WAKE, 0);
    }
}

SEC("raw_tp/sched_waking")
int on_waking(struct bpf_raw_tracepoint_args *ctx)
{
    wake(ctx, 0);
    return 0;
}

SEC("raw_tp/sched_wakeup_new")
int on_wakeup_new(struct bpf_raw_tracepoint_args *ctx)
{
    wake(ctx, 1);
    return 0;
}

#endif
