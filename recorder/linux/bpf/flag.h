/* Data flags: a processor's debug register watches some bytes of a process (linux/flags.c attaches
 * a perf_event to each of its threads), and this program runs in the accessing thread after the
 * instruction that accessed them. On arm64 it runs before the instruction, and calculates the value
 * after it (flag_arm64.h).
 *
 * A register that is set for writes reports only writes. x86 cannot report only reads: a register
 * for reads and writes reports any access, and the value has to tell them apart. If it differs from
 * the last value seen, the flag was written. If it is equal, the flag was read, or the same value
 * was written again, or another thread wrote it meanwhile. Then the record leaves that open
 * (ARGUS_FLAG_BY_VALUE), and the analysis decodes the instruction before `pc`.
 *
 * A thread that is created while the process's threads are being attached can have the same event
 * twice. The processor reports both in one exception, so the second run follows the first at once;
 * it is dropped.
 */
#ifndef ARGUS_BPF_FLAG_H
#define ARGUS_BPF_FLAG_H

#include "ring.h"
#include "stack.h"

/* Two exceptions are separated by at least a return from the kernel and an entry; two reports of
 * one exception follow each other directly. */
#define FLAG_SAME_EXCEPTION_NS 400

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, FLAG_LIMIT);
    __type(key, uint32_t);
    __type(value, struct bpf_flag);
} flags SEC(".maps");

/* The last hit that this cpu has finished. */
struct flag_hit {
    uint64_t address, tid, end_ns;
    uint64_t pc, repeated; /* arm64: of a load-exclusive, and how often it was repeated */
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, struct flag_hit);
} flag_hits SEC(".maps");

static __always_inline struct bpf_flag *flag_find(uint32_t tgid, uint64_t address)
{
    for (uint64_t i = 0; i < FLAG_LIMIT; i++) {
        uint32_t key = i;
        struct bpf_flag *flag = bpf_map_lookup_elem(&flags, &key);
        if (flag && flag->bytes && flag->tgid == tgid && flag->address == address)
            return flag;
    }
    return NULL;
}

static __always_inline uint64_t flag_value(const struct bpf_flag *flag)
{
    uint64_t value = 0;
    uint32_t bytes = flag->bytes;
    if (bytes == 0 || bytes > 8 || bpf_probe_read_user(&value, bytes, (void *)flag->address) < 0)
        return 0;
    return value;
}

struct flag_change {
    uint64_t before, after;
};

#if defined(__TARGET_ARCH_arm64)
static __always_inline uint64_t flag_register(const void *registers, uint32_t number)
{
    uint64_t value = 0; /* struct pt_regs begins with x0 to x30 and sp */
    bpf_probe_read_kernel(&value, sizeof(value), registers + 8 * (uint64_t)(number & 31));
    return value;
}

#include "flag_arm64.h"

/* A thread that makes no progress is reported about a million times a second. A thread that waits
 * for a lock retries less often, but it would not get the lock either. */
#define FLAG_MOST_REPEATED 1000

static __always_inline uint32_t flag_instruction(uint64_t pc)
{
    uint32_t code = 0; /* no instruction */
    bpf_probe_read_user(&code, sizeof(code), (void *)pc);
    return code;
}

/* Not inlined: verified once, not for each path to it. */
__attribute__((noinline)) uint64_t flag_value_after(uint64_t pc, uint64_t address, uint64_t value,
                                                    uint32_t bytes)
{
    struct pt_regs *registers = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
    const struct arm64_flag flag = {address, value, bytes};
    if (!arch_in_native_call(registers))
        return value;
    return arm64_value_after(flag_instruction(pc), registers, &flag);
}

static __always_inline struct flag_change flag_change(struct bpf_flag *flag, uint64_t pc)
{
    struct flag_change change = {.before = flag_value(flag)};
    change.after = flag_value_after(pc, flag->address, change.before, flag->bytes);
    flag->value = change.after;
    return change;
}

/* Whether the thread is in a sequence that never succeeds while it is watched. The recorder then
 * ends the watch. */
static __always_inline bool flag_is_stuck(struct bpf_flag *flag, struct flag_hit *last,
                                          const struct moment *now, uint64_t pc)
{
    uint32_t code = flag_instruction(pc);
    bool again = last->address == flag->address && last->tid == now->tid && last->pc == pc;
    last->pc = arm64_is_exclusive(code) ? pc : 0;
    last->repeated = again && last->pc ? last->repeated + 1 : 0;
    if (!last->pc || (arm64_is_load(code) && last->repeated < FLAG_MOST_REPEATED))
        return false;
    flag->stuck_tid = (uint32_t)now->tid;
    return true;
}
#else
static __always_inline struct flag_change flag_change(struct bpf_flag *flag, uint64_t pc)
{
    (void)pc;
    struct flag_change change = {.after = flag_value(flag)};
    change.before = __sync_lock_test_and_set(&flag->value, change.after);
    return change;
}

static __always_inline bool flag_is_stuck(struct bpf_flag *flag, struct flag_hit *last,
                                          const struct moment *now, uint64_t pc)
{
    (void)flag, (void)last, (void)now, (void)pc;
    return false;
}
#endif

static __always_inline void flag_emit(void *context, const struct moment *now, uint64_t pc,
                                      struct bpf_flag *flag)
{
    struct flag_change change = flag_change(flag, pc);
    uint64_t sequence = __sync_fetch_and_add(&flag->hits, 1) + 1;
    bool writes = flag->access == FLAG_WRITES || change.after != change.before;
    if (writes)
        __sync_fetch_and_add(&flag->writes, 1);
    uint32_t by = flag->access == FLAG_WRITES ? ARGUS_FLAG_BY_WATCHPOINT : ARGUS_FLAG_BY_VALUE;
    emit(now, writes ? ARGUS_ID_FLAG_WRITE : ARGUS_ID_FLAG_READ, flag->address, change.after,
         ARGUS_FLAG_WHERE(pc, flag->bytes, by), sequence);
    if (!settings.stacks)
        return;
    uint64_t user = stack_take_whole(context, STACK_USER_FLAG);
    emit(now, ARGUS_ID_STACK, user, 0, ARGUS_STACK_FLAG, 0);
}

SEC("perf_event")
int on_flag(uint64_t *ctx)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct moment now = moment_now(task);
    uint64_t address = ctx[ARCH_FAULT_ADDRESS], pc = ctx[ARCH_SAMPLE_IP];
    uint32_t zero = 0;
    struct flag_hit *last = bpf_map_lookup_elem(&flag_hits, &zero);
    struct bpf_flag *flag = flag_find((uint32_t)task->tgid, address);
    if (!flag || !last)
        return 0;
    if (last->address == address && last->tid == now.tid &&
        now.time_ns - last->end_ns < FLAG_SAME_EXCEPTION_NS)
        return 0;
    if (flag_is_stuck(flag, last, &now, pc))
        return 0;
    flag_emit(ctx, &now, pc, flag);
    last->address = address;
    last->tid = now.tid;
    last->end_ns = bpf_ktime_get_ns();
    return 0;
}

#endif
