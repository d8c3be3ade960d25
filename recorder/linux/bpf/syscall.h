/* Every system call: number, arguments, result. This path runs most often. So it decides before it
 * copies, makes two map lookups per record, and calls no helper except the clock.
 *
 * Measured here, of 100 ns a record: 60 are the kernel's own way to the program, 31 are
 * bpf_ktime_get_ns(), 7 were the helper that tells the current task, 2 the atomic add, 2 the
 * writing. Not worthwhile: one record at the end of the call with both times (2 ns less, because
 * both times must still be read), records of 32 bytes (1 ns), a head without the atomic add (2 ns,
 * and interrupts nest).
 */
#ifndef ARGUS_BPF_SYSCALL_H
#define ARGUS_BPF_SYSCALL_H

#include "file_lock.h"
#include "hook.h"
#include "lock_name.h"
#include "loop_turn.h"
#include "mapping.h"
#include "message_call.h"
#include "poller.h"
#include "ready.h"
#include "ring.h"
#include "stack.h"
#include "yield_run.h"

/* Whether `number` is one of the native table; 32-bit programs have others (call.h). */
static __always_inline bool is_native(struct pt_regs *regs, uint64_t number)
{
    return number < ARCH_X32_BIT &&
           (arch_in_native_call(regs) || !arch_is_compat(bpf_get_current_task_btf()));
}

/* The registers that the program entered the kernel with, which both tracepoints pass. The cast is
 * free; the helper for older kernels is a call. */
static __always_inline struct pt_regs *saved_registers(struct bpf_raw_tracepoint_args *ctx)
{
#if defined(ARGUS_CASTS)
    return bpf_rdonly_cast((void *)ctx->args[0], bpf_core_type_id_kernel(struct pt_regs));
#else
    (void)ctx;
    return (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
#endif
}

/* The thread in a system call on this CPU, and its process. Getting the current task is a helper
 * call, so the result is cached while the same thread continues. The key is the address of its
 * saved registers at the top of its kernel stack, which is unique to the thread. on_switch() clears
 * the cache. Key and IDs are not written atomically: a key that does not match its IDs is
 * ignored. */
static __always_inline uint64_t caller_ids(struct bpf_cpu *state, uint64_t registers)
{
    uint64_t ids = state->caller_ids;
    if ((state->caller_key ^ ids) == registers)
        return ids;
    struct task_struct *task = bpf_get_current_task_btf();
    ids = (uint64_t)(uint32_t)task->tgid << 32 | (uint32_t)task->pid;
    state->caller_ids = ids;
    state->caller_key = ids ^ registers;
    state->call_stack = 0;
    return ids;
}

#define IDS_TGID(ids) ((uint32_t)((ids) >> 32))
#define IDS_TID(ids)  ((uint32_t)(ids))

/* With --call-stacks: the stack of the caller. */
static __always_inline void stack_of_call(struct bpf_raw_tracepoint_args *ctx,
                                          const struct moment *now)
{
    if (!settings.call_stacks || switched_off)
        return;
    uint64_t user = stack_take_user(ctx, STACK_USER_CALL);
    uint32_t cpu;
    struct bpf_cpu *state = this_cpu(&cpu);
    if (!state)
        return;
    state->call_stack = user;
    state->call_place = call_place((void *)bpf_task_pt_regs(bpf_get_current_task_btf()));
    if (user)
        emit_on(state, cpu, now, ARGUS_ID_STACK, user, 0, ARGUS_STACK_CALL, 0);
}

/* Its registers and stack are those of another program when it ends. */
static __always_inline bool is_exec(uint64_t number)
{
    return number == ARCH_EXECVE || number == ARCH_EXECVEAT;
}

static __always_inline uint64_t error_of(int64_t result)
{
    return result < 0 && result >= -4095 ? -result : 0;
}

/* A call of the current thread that is in no table here: of an x32 program, or an obsolete call. */
static __always_inline void count_skipped(void)
{
    uint32_t cpu;
    struct bpf_cpu *state = this_cpu(&cpu);
    if (state)
        __sync_fetch_and_add(&state->compat_skipped, 1);
}

/* The call of a 32-bit program; false: unknown. */
static __always_inline bool take_compat_call(struct task_struct *task, struct call *ret)
{
    struct call call;
    if (!arch_is_compat(task) || !compat_call((void *)bpf_task_pt_regs(task), &call)) {
        count_skipped();
        return false;
    }
    *ret = call;
    ret->is_compat = true; /* so that the compiler knows it */
    return true;
}

/* A call outside the native table continues in a separate program. So native calls do not pay for
 * it, neither in stack nor in verifier complexity; and a kernel that refuses that program refuses
 * nothing else. */
struct {
    __uint(type, BPF_MAP_TYPE_PROG_ARRAY);
    __uint(max_entries, COMPAT_PROGRAMS);
    __uint(key_size, sizeof(uint32_t));
    __uint(value_size, sizeof(uint32_t));
} compat_programs SEC(".maps");

/* Does not return if the program is loaded. Before Linux 6.0 arm64 has no tail calls in a program
 * that has other functions. */
static __always_inline void leave_for_compat(struct bpf_raw_tracepoint_args *ctx, uint32_t program)
{
#if defined(__TARGET_ARCH_x86)
    bpf_tail_call(ctx, &compat_programs, program);
#else
    (void)ctx, (void)program;
#endif
    count_skipped();
}

/* Records what the end of `call`, one of settings.end_syscalls, tells besides its result. */
static __always_inline void end_tells(const struct moment *now, const struct call *call,
                                      int64_t result)
{
    uint32_t name = name_call(call->number);
    if (name)
        lock_name_of_call(now, call, name, result);
    else if (is_lock_call(call->number))
        file_lock_of_call(now, call, result);
    else
        emit_ready(now, call, result);
}

/* A thread enters a call. Loop turns matter only if probes report callbacks. */
static __always_inline void loop_polls(const struct moment *now, uint64_t number, uint64_t sp,
                                       uint64_t object)
{
    if (settings.probes && bit_is_set(settings.poll_syscalls, number))
        turn_polls(now, sp, object);
}

/* The time-out of a 32-bit program's poll. The form of one in memory differs from call to call, so
 * such a call is taken for one that waits. */
static __always_inline uint64_t compat_timeout(const struct call *call)
{
    if (has_timespec(call->number))
        return POLL_WAITS;
    return is_poll(call->number) ? call->arguments[2] : call->arguments[3];
}

/* The begin of such a call. */
SEC("raw_tp/compat_enter")
int on_compat_enter(struct bpf_raw_tracepoint_args *ctx)
{
    struct call call;
    struct moment now = moment_now(bpf_get_current_task_btf());
    if (!take_compat_call(now.task, &call))
        return 0;
    uint64_t number = call.number;
    struct pt_regs *regs = (void *)bpf_task_pt_regs(now.task);
    poller_enters(&now, (struct poll_call){number, call.arguments[0], call.arguments[1],
                                           arch_stack_pointer(regs), compat_timeout(&call)});
    loop_polls(&now, number, arch_stack_pointer(regs), call.arguments[0]);
    emit(&now, ARGUS_ID_SYSCALL(number & 0x3fff) | ARGUS_FUNC_START, call.arguments[0],
         call.arguments[1], call.arguments[2], call.arguments[3]);
    if (bit_is_set(settings.long_syscalls, number))
        emit(&now, ARGUS_ID_SYSCALL_MORE, number, call.arguments[4], call.arguments[5], 0);
    if (number == ARCH_FUTEX)
        emit_shared_futex(&now, call.arguments[0], (uint32_t)call.arguments[1]);
    stack_of_call(ctx, &now);
    return 0;
}

/* Its end. */
SEC("raw_tp/compat_exit")
int on_compat_exit(struct bpf_raw_tracepoint_args *ctx)
{
    struct call call;
    uint32_t cpu;
    struct bpf_cpu *state = this_cpu(&cpu);
    struct task_struct *task = bpf_get_current_task_btf();
    if (!state || !take_compat_call(task, &call))
        return 0;
    int64_t result = (int64_t)ctx->args[1];
    struct moment now = {.tid = (uint32_t)task->pid, .task = task};
    if (has_messages(call.number))
        messages_of_call(&now, &call, result);
    if (!now.time_ns)
        now.time_ns = bpf_ktime_get_ns();
    struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
    if (late_is_on() && now.tid && state->late_tid == now.tid && !is_exec(call.number))
        late_ends(state, &now, arch_stack_pointer(regs));
    poller_returns(&now, (struct poll_result){call.number, arch_stack_pointer(regs), result,
                                              (uint32_t)task->tgid});
    if (bit_is_set(settings.end_syscalls, call.number)) {
        now.task = bpf_get_current_task_btf();
        end_tells(&now, &call, result);
    }
    emit_on(state, cpu, &now, ARGUS_ID_SYSCALL(call.number & 0x3fff) | ARGUS_FUNC_END,
            error_of(result), result, 0, (uint32_t)task->tgid);
    return 0;
}

SEC("raw_tp/sys_enter")
int on_sys_enter(struct bpf_raw_tracepoint_args *ctx)
{
    uint32_t cpu;
    struct bpf_cpu *state = this_cpu(&cpu);
    struct pt_regs *regs = saved_registers(ctx);
    if (!state)
        return 0;
    uint64_t number = ctx->args[1], ids = caller_ids(state, ctx->args[0]);
    if (IDS_TGID(ids) == settings.own_tgid)
        return 0;
    if (!is_native(regs, number)) {
        leave_for_compat(ctx, COMPAT_ENTER);
        return 0;
    }
    struct moment now = {.time_ns = bpf_ktime_get_ns(), .tid = IDS_TID(ids)};
    if (is_hook_call(regs, number)) {
        emit_hook(state, cpu, &now, regs);
        return 0;
    }
    if (number == ARCH_SCHED_YIELD && yield_begins(&now))
        return 0;
    poller_enters(&now, (struct poll_call){number, arch_argument0(regs), arch_argument1(regs),
                                           arch_stack_pointer(regs), poll_timeout(number, regs)});
    loop_polls(&now, number, arch_stack_pointer(regs), arch_argument0(regs));
    emit_on(state, cpu, &now, ARGUS_ID_SYSCALL(number & 0x3fff) | ARGUS_FUNC_START,
            arch_argument0(regs), arch_argument1(regs), arch_argument2(regs), arch_argument3(regs));
    if (bit_is_set(settings.long_syscalls, number))
        emit(&now, ARGUS_ID_SYSCALL_MORE, number, arch_argument4(regs), arch_argument5(regs), 0);
    if (number == ARCH_FUTEX) {
        now.task = bpf_get_current_task_btf();
        emit_shared_futex(&now, arch_argument0(regs), (uint32_t)arch_argument1(regs));
    }
    stack_of_call(ctx, &now);
    return 0;
}

SEC("raw_tp/sys_exit")
int on_sys_exit(struct bpf_raw_tracepoint_args *ctx)
{
    uint32_t cpu;
    struct bpf_cpu *state = this_cpu(&cpu);
    struct pt_regs *regs = saved_registers(ctx);
    if (!state)
        return 0;
    uint64_t number = arch_syscall_nr(regs), ids = caller_ids(state, ctx->args[0]);
    if ((uint32_t)number ==
        (uint32_t)-1) /* rt_sigreturn restores the registers of the interrupted code */
        number = ARCH_RT_SIGRETURN;
    if (IDS_TGID(ids) == settings.own_tgid)
        return 0;
    if (!is_native(regs, number)) {
        leave_for_compat(ctx, COMPAT_EXIT);
        return 0;
    }
    if (is_hook_call(regs, number))
        return 0;
    int64_t result = ctx->args[1];
    struct moment now = {.tid = IDS_TID(ids)};
    if (has_messages(number)) {
        struct call call = call_native(regs, number);
        now.task = bpf_get_current_task_btf();
        messages_of_call(&now, &call, result);
    }
    if (!now.time_ns) /* no message was stamped */
        now.time_ns = bpf_ktime_get_ns();
    if (late_is_on() && now.tid && state->late_tid == now.tid && !is_exec(number))
        late_ends(state, &now, arch_stack_pointer(regs));
    uint64_t left_out = 0;
    if (number == ARCH_SCHED_YIELD && yield_ends(&now, &left_out))
        return 0;
    poller_returns(&now,
                   (struct poll_result){number, arch_stack_pointer(regs), result, IDS_TGID(ids)});
    if (bit_is_set(settings.end_syscalls, number)) {
        /* Requested again at each use: stored in a variable, the pointer becomes a plain number for
         * older verifiers. */
        now.task = bpf_get_current_task_btf();
        struct call call = call_native(regs, number);
        end_tells(&now, &call, result);
    }
    emit_on(state, cpu, &now, ARGUS_ID_SYSCALL(number & 0x3fff) | ARGUS_FUNC_END, error_of(result),
            result, left_out, IDS_TGID(ids));
    return 0;
}

#endif
