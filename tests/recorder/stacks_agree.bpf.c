/* At every blocking wait of one process: the stacks as the recorder takes them, and as the kernel's own helper does. */
#include "linux/bpf/stack.h"

#include "stacks_agree.h"

struct agreement agreement; /* read by stacks_agree.c */

static __always_inline void compare_kernel(struct bpf_raw_tracepoint_args *ctx,
                                           struct bpf_stack *stack, struct bpf_window *window)
{
    uint32_t cpu;
    struct bpf_cpu *state = this_cpu(&cpu);
    if (!state)
        return;
    struct entry entry = {state->entry_first, state->entry_last};
    uint64_t name = kernel_stack_name(ctx, bpf_get_current_task_btf(), &entry, window->words);
    if (name && bpf_map_lookup_elem(&known_stacks, &name))
        __sync_fetch_and_add(&agreement.kernel_recognised, 1);
    uint64_t id = stack_take_call(ctx, STACK_USER_SWITCH, STACK_SKIP_TRACING);
    __sync_fetch_and_add(&agreement.kernel, 1);
    if (id != stack_by_helper(ctx, stack, STACK_SKIP_TRACING))
        __sync_fetch_and_add(&agreement.kernel_differs, 1);
}

static __always_inline void compare_user(struct bpf_raw_tracepoint_args *ctx,
                                         struct bpf_stack *stack)
{
    uint64_t id = stack_take_user(ctx, STACK_USER_SWITCH);
    long bytes = bpf_get_stack(ctx, stack->frames, sizeof(stack->frames), BPF_F_USER_STACK);
    uint32_t count = 0;
    for (; count < BPF_STACK_FRAMES && bytes > 0 && count < (uint64_t)bytes / 8; count++) {
        if (!is_user_address(stack->frames[count]))
            break;
    }
    stack->count = count;
    __sync_fetch_and_add(&agreement.user, 1);
    __sync_fetch_and_add(&agreement.user_frames, count);
    if (id != stack_hash(stack))
        __sync_fetch_and_add(&agreement.user_differs, 1);
}

SEC("raw_tp/sched_switch")
int on_switch(struct bpf_raw_tracepoint_args *ctx)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
    uint32_t slot = STACK_USER_SWITCH;
    struct bpf_stack *stack = bpf_map_lookup_elem(&scratch, &slot);
    struct bpf_window *window = bpf_map_lookup_elem(&windows, &slot);
    if (!is_own(task) || ctx->args[0] || !task->__state || !arch_in_syscall(regs) || !stack ||
        !window)
        return 0;
    if (KERNEL_STACK_HAS_NAME)
        compare_kernel(ctx, stack, window);
    compare_user(ctx, stack);
    return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
