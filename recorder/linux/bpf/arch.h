/* What differs between processors: where a system call's number and arguments are, and whether a
 * set of saved registers belongs to a system call at all.
 */
#ifndef ARGUS_BPF_ARCH_H
#define ARGUS_BPF_ARCH_H

#include "kernel_types.h"

#if defined(__TARGET_ARCH_x86)

#define ARCH_FUTEX        202
#define ARCH_FCNTL        72
#define ARCH_FLOCK        73
#define ARCH_EXECVE       59
#define ARCH_EXECVEAT     322
#define ARCH_GETPID       39
#define ARCH_CONNECT      42
#define ARCH_POLL         7
#define ARCH_PPOLL        271
#define ARCH_SELECT       23
#define ARCH_PSELECT6     270
#define ARCH_EPOLL_PWAIT2 441
#define ARCH_EPOLL_CTL    233
#define ARCH_RT_SIGRETURN 15
#define ARCH_SCHED_YIELD  24
#define ARCH_RESTART      219 /* restart_syscall */
#define ARCH_WAIT4        61
#define ARCH_TS_COMPAT    0x2
#define ARCH_X32_BIT      0x40000000
#define ARCH_SAMPLE_IP                                                                             \
    16 /* which word of a perf_event program's registers is the instruction pointer */

/* The same, of the address of a page fault: behind the registers and the period. */
#define ARCH_FAULT_ADDRESS 22

#define arch_argument0(regs)  ((regs)->di)
#define arch_argument1(regs)  ((regs)->si)
#define arch_argument2(regs)  ((regs)->dx)
#define arch_argument3(regs)  ((regs)->r10)
#define arch_argument4(regs)  ((regs)->r8)
#define arch_argument5(regs)  ((regs)->r9)
#define arch_syscall_nr(regs) ((long)(regs)->orig_ax)

#define arch_pc(regs)            ((regs)->ip)
#define arch_frame_pointer(regs) ((regs)->bp)

/* A page fault leaves its error code in orig_ax, where it looks like a system call's number. But
 * the SYSCALL instruction leaves the return address in rcx and the flags in r11, which no fault
 * does. */
#define arch_in_syscall(regs) ((regs)->cx == (regs)->ip && (regs)->r11 == (regs)->flags)

/* In a system call: whether it is one of the native table. False only means that the task must be
 * checked. The 32-bit ways into the kernel have an argument in rcx. */
#define arch_in_native_call(regs) ((regs)->cx == (regs)->ip)

#define arch_is_compat(task) ((task)->thread_info.status & ARCH_TS_COMPAT)

/* A 32-bit program's calls, by either of its ways into the kernel (arch/x86/include/asm/syscall.h).
 */
#define arch_compat_argument0(regs) ((uint32_t)(regs)->bx)
#define arch_compat_argument1(regs) ((uint32_t)(regs)->cx)
#define arch_compat_argument2(regs) ((uint32_t)(regs)->dx)
#define arch_compat_argument3(regs) ((uint32_t)(regs)->si)
#define arch_compat_argument4(regs) ((uint32_t)(regs)->di)
#define arch_compat_argument5(regs) ((uint32_t)(regs)->bp)

/* Whether the code that was left runs with registers and stack words of 32 bits, in a system call
 * or not: the code segment of such programs (__USER32_CS, arch/x86/include/asm/segment.h). */
#define arch_is_32_bit(regs) ((regs)->cs == 0x23)

/* A 32-bit program has it in the first segment for threads: the base of struct desc_struct, which
 * is in two parts. */
#define arch_segment_base(word) (((word) >> 16 & 0xffffff) | ((word) >> 56) << 24)
#define arch_thread_pointer(task, is_32_bit)                                                       \
    ((is_32_bit)                                                                                   \
         ? arch_segment_base(kernel_word(kernel_place(task_struct, (task), thread.tls_array)))     \
         : (task)->thread.fsbase)

/* Of a return address on the stack: the bits that are the address. */
#define arch_code_mask(mm) ((void)(mm), ~0ull)

/* In DWARF's order (System V ABI, AMD64 supplement, figure 3.36). */
#define arch_copy_registers(to, regs)                                                              \
    do {                                                                                           \
        (to)[0] = (regs)->ax;                                                                      \
        (to)[1] = (regs)->dx;                                                                      \
        (to)[2] = (regs)->cx;                                                                      \
        (to)[3] = (regs)->bx;                                                                      \
        (to)[4] = (regs)->si;                                                                      \
        (to)[5] = (regs)->di;                                                                      \
        (to)[6] = (regs)->bp;                                                                      \
        (to)[7] = (regs)->sp;                                                                      \
        (to)[8] = (regs)->r8;                                                                      \
        (to)[9] = (regs)->r9;                                                                      \
        (to)[10] = (regs)->r10;                                                                    \
        (to)[11] = (regs)->r11;                                                                    \
        (to)[12] = (regs)->r12;                                                                    \
        (to)[13] = (regs)->r13;                                                                    \
        (to)[14] = (regs)->r14;                                                                    \
        (to)[15] = (regs)->r15;                                                                    \
        (to)[16] = (regs)->ip;                                                                     \
    } while (0)

#define arch_stack_pointer(regs) ((regs)->sp)
/* Arguments 1 to 6 of a function, then its result (at its return). */
#define arch_call_registers(regs, ret)                                                             \
    do {                                                                                           \
        (ret)[1] = (regs)->di, (ret)[2] = (regs)->si, (ret)[3] = (regs)->dx;                       \
        (ret)[4] = (regs)->cx, (ret)[5] = (regs)->r8, (ret)[6] = (regs)->r9;                       \
        (ret)[7] = (regs)->ax;                                                                     \
    } while (0)

/* x86-64 makes stores visible in program order: only the compiler must not reorder them. */
#define arch_store_last(place, value)                                                              \
    do {                                                                                           \
        asm volatile("" ::: "memory");                                                             \
        *(volatile uint64_t *)(place) = (value);                                                   \
    } while (0)

#elif defined(__TARGET_ARCH_arm64)

#define ARCH_FUTEX        98
#define ARCH_FCNTL        25
#define ARCH_FLOCK        32
#define ARCH_EXECVE       221
#define ARCH_EXECVEAT     281
#define ARCH_GETPID       172
#define ARCH_CONNECT      203
#define ARCH_POLL         ((uint64_t)-1) /* not on this architecture */
#define ARCH_PPOLL        73
#define ARCH_SELECT       ((uint64_t)-1)
#define ARCH_PSELECT6     72
#define ARCH_EPOLL_PWAIT2 441
#define ARCH_EPOLL_CTL    21
#define ARCH_RT_SIGRETURN 139
#define ARCH_SCHED_YIELD  124
#define ARCH_RESTART      128
#define ARCH_WAIT4        260
#define ARCH_TIF_32BIT    (1ul << 22)
#define ARCH_X32_BIT      0x40000000
#define ARCH_SAMPLE_IP    32
#define ARCH_PSR_32BIT    0x10

#define ARCH_FAULT_ADDRESS 35

#define arch_argument0(regs)      ((regs)->orig_x0)
#define arch_argument1(regs)      ((regs)->regs[1])
#define arch_argument2(regs)      ((regs)->regs[2])
#define arch_argument3(regs)      ((regs)->regs[3])
#define arch_argument4(regs)      ((regs)->regs[4])
#define arch_argument5(regs)      ((regs)->regs[5])
/* A 32-bit field, -1 outside of a system call: not widened, so that the verifier knows it is a
 * small number. */
#define arch_syscall_nr(regs)     ((uint64_t)(uint32_t)(regs)->syscallno)
#define arch_pc(regs)             ((regs)->pc)
#define arch_frame_pointer(regs)  ((regs)->regs[29])
#define arch_in_syscall(regs)     ((regs)->syscallno >= 0)
#define arch_in_native_call(regs) (((regs)->pstate & ARCH_PSR_32BIT) == 0)
#define arch_is_compat(task)      ((task)->thread_info.flags & ARCH_TIF_32BIT)

#define arch_compat_argument0(regs) ((uint32_t)(regs)->orig_x0)
#define arch_compat_argument1(regs) ((uint32_t)(regs)->regs[1])
#define arch_compat_argument2(regs) ((uint32_t)(regs)->regs[2])
#define arch_compat_argument3(regs) ((uint32_t)(regs)->regs[3])
#define arch_compat_argument4(regs) ((uint32_t)(regs)->regs[4])
#define arch_compat_argument5(regs) ((uint32_t)(regs)->regs[5])
#define arch_is_32_bit(regs)        ((regs)->pstate & ARCH_PSR_32BIT)

#define arch_thread_pointer(task, is_32_bit) ((void)(is_32_bit), (task)->thread.uw.tp_value)

/* With pointer authentication a return address on the stack has a signature in the bits above those
 * of user space (Documentation/arch/arm64/pointer-authentication.rst; ptrauth_user_pac_mask()). */
#define arch_code_mask(mm)                   ((mm)->task_size - 1)

#define arch_copy_registers(to, from)                                                              \
    do {                                                                                           \
        _Pragma("unroll") for (int i = 0; i < 31; i++)(to)[i] = (from)->regs[i];                   \
        (to)[31] = (from)->sp;                                                                     \
        (to)[32] = (from)->pc;                                                                     \
    } while (0)

#define arch_stack_pointer(regs) ((regs)->sp)
#define arch_call_registers(from, ret)                                                             \
    do {                                                                                           \
        (ret)[1] = (from)->regs[0], (ret)[2] = (from)->regs[1], (ret)[3] = (from)->regs[2];        \
        (ret)[4] = (from)->regs[3], (ret)[5] = (from)->regs[4], (ret)[6] = (from)->regs[5];        \
        (ret)[7] = (from)->regs[0];                                                                \
    } while (0)

/* An exchange is the only store of BPF before 6.18 that orders what came before it. */
#define arch_store_last(place, value) ((void)__sync_lock_test_and_set((uint64_t *)(place), (value)))

#else
#error "argus-recorder knows x86_64 and aarch64"
#endif

#endif
