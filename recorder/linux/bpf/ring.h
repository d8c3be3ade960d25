/* Maps, settings and the writing of one record (see ../shared.h for the ring's rules). */
#ifndef ARGUS_BPF_RING_H
#define ARGUS_BPF_RING_H

#include "arch.h"
#include "kernel_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "../shared.h"
#include "argus/record.h"

/* In a section of its own: newer compilers put constants of their own into .rodata. */
const volatile struct bpf_settings settings SEC(".rodata.settings") = {.slot_count = 1};

/* BPF_LEFT_OUT_…: what is not recorded at present, to save time (--max-overhead). The recorder also
 * detaches the programs of such categories; this is for what others do for them. */
volatile uint32_t switched_off SEC(".data.switched_off") = 0;

/* Both are sized by the recorder before loading. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, struct argus_record);
} ring SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, struct bpf_cpu);
} cpus SEC(".maps");

static __always_inline struct bpf_cpu *this_cpu(uint32_t *ret_cpu)
{
    *ret_cpu = bpf_get_smp_processor_id();
    return bpf_map_lookup_elem(&cpus, ret_cpu);
}

/* What all records of one program run have in common. */
struct moment {
    uint64_t time_ns;
    uint64_t tid;
    struct task_struct *task; /* the current one */
};

static __always_inline struct moment moment_now(struct task_struct *task)
{
    return (struct moment){.time_ns = bpf_ktime_get_ns(), .tid = (uint32_t)task->pid, .task = task};
}

/* `state` is that of this `cpu`. */
static __always_inline void emit_on(struct bpf_cpu *state, uint32_t cpu, const struct moment *now,
                                    uint32_t debugid, uint64_t arg1, uint64_t arg2, uint64_t arg3,
                                    uint64_t arg4)
{
    uint64_t sequence = __sync_fetch_and_add(&state->head, 1);
    uint32_t index = cpu * settings.slot_count + (uint32_t)(sequence & (settings.slot_count - 1));
    struct argus_record *record = bpf_map_lookup_elem(&ring, &index);
    if (!record)
        return;
    record->timestamp = now->time_ns;
    record->arg[0] = arg1;
    record->arg[1] = arg2;
    record->arg[2] = arg3;
    record->arg[3] = arg4;
    record->tid = now->tid;
    record->debugid = debugid;
    record->cpu = cpu;
    arch_store_last(&record->unused, sequence + 1);
}

static __always_inline void emit(const struct moment *now, uint32_t debugid, uint64_t arg1,
                                 uint64_t arg2, uint64_t arg3, uint64_t arg4)
{
    uint32_t cpu;
    struct bpf_cpu *state = this_cpu(&cpu);
    if (state)
        emit_on(state, cpu, now, debugid, arg1, arg2, arg3, arg4);
}

static __always_inline bool is_own(const struct task_struct *task)
{
    return (uint32_t)task->tgid == settings.own_tgid;
}

/* Invalidates what syscall.h has cached about the thread on this CPU: it is scheduled out, or has
 * another ID now. */
static __always_inline void caller_forget(void)
{
    uint32_t cpu;
    struct bpf_cpu *state = this_cpu(&cpu);
    if (state)
        state->caller_key = 0;
}

/* `index`, cut to below `size`, a power of two. The verifier of a kernel before 6.9 forgets a bound
 * that was checked in another register, in one half of this one, or before the number lay on the
 * stack; and a compiler that has seen a check leaves a mask out. So the mask is an instruction that
 * the compiler cannot analyse, on the register that becomes the address. */
#define bounded(index, size)                                                                       \
    ({                                                                                             \
        uint64_t bounded_index = (index);                                                          \
        asm volatile("%0 &= %1" : "+r"(bounded_index) : "i"((size)-1));                            \
        bounded_index;                                                                             \
    })

/* The smaller of `number` and `most`: how many bytes a helper copies. In instructions, for the same
 * reason as bounded(). `most` is a constant or one of the settings, whose values the verifier
 * knows. */
#define at_most(number, most)                                                                      \
    ({                                                                                             \
        uint64_t at_most_number = (number);                                                        \
        asm volatile("if %0 <= %1 goto +1\n%0 = %1"                                                \
                     : "+r"(at_most_number)                                                        \
                     : "ri"((uint64_t)(most)));                                                    \
        at_most_number;                                                                            \
    })

static __always_inline bool bit_is_set(const volatile uint64_t *words, uint64_t number)
{
    return number < BPF_SYSCALLS &&
           (words[bounded(number >> 6, BPF_SYSCALL_WORDS)] >> (number & 63)) & 1;
}

/* The message operation of system call `number`. */
static __always_inline uint32_t operation_of_call(uint64_t number)
{
    if (number >= BPF_SYSCALLS)
        return MESSAGE_NOTHING;
    return settings.message_operations[bounded(number, BPF_SYSCALLS)];
}

#endif
