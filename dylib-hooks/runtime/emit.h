/* Writes one record (see below for the reasons for this method). */
#ifndef ARGUS_HOOKS_EMIT_H
#define ARGUS_HOOKS_EMIT_H

#include <stdint.h>

#if defined(__APPLE__)

#define SYSCALL_KDEBUG_TRACE64 179 /* bsd/kern/syscalls.master of xnu-11417 */

/* Not kdebug_trace(): it sets errno, and as a library function it could be hooked. The system call
 * is the same. */
static inline void emit_record(uint32_t debugid, uint64_t arg1, uint64_t arg2, uint64_t arg3,
                               uint64_t arg4)
{
#if defined(__aarch64__)
    register uint64_t x0 __asm__("x0") = debugid;
    register uint64_t x1 __asm__("x1") = arg1;
    register uint64_t x2 __asm__("x2") = arg2;
    register uint64_t x3 __asm__("x3") = arg3;
    register uint64_t x4 __asm__("x4") = arg4;
    register uint64_t x16 __asm__("x16") = SYSCALL_KDEBUG_TRACE64;
    __asm__ volatile("svc #0x80"
                     : "+r"(x0), "+r"(x1)
                     : "r"(x2), "r"(x3), "r"(x4), "r"(x16)
                     : "memory", "cc");
#else
    register uint64_t r10 __asm__("r10") = arg3;
    register uint64_t r8 __asm__("r8") = arg4;
    uint64_t number = 0x2000000 | SYSCALL_KDEBUG_TRACE64;
    __asm__ volatile("syscall"
                     : "+a"(number)
                     : "D"((uint64_t)debugid), "S"(arg1), "d"(arg2), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory", "cc");
#endif
}

#else

#include <asm/unistd.h>

#include "argus/record.h"

/* getpid() does not look at its registers, is allowed by every sandbox, costs the way into the
 * kernel and back, and changes nothing. The recorder's program at sys_enter sees the registers;
 * that one begins with ARGUS_HOOK_CALL makes it a record of ours (recorder/linux/bpf/hook.h) in the
 * ring of this cpu, with time, thread and order like all others, and with the loss counted if the
 * ring overflows. So the application needs no right, no connection and no shared memory, and a
 * recording that begins later sees its hooks all the same. */
static inline void emit_record(uint32_t debugid, uint64_t arg1, uint64_t arg2, uint64_t arg3,
                               uint64_t arg4)
{
#if defined(__aarch64__)
    register uint64_t x0 __asm__("x0") = ARGUS_HOOK_CALL;
    register uint64_t x1 __asm__("x1") = debugid;
    register uint64_t x2 __asm__("x2") = arg1;
    register uint64_t x3 __asm__("x3") = arg2;
    register uint64_t x4 __asm__("x4") = arg3;
    register uint64_t x5 __asm__("x5") = arg4;
    register uint64_t x8 __asm__("x8") = __NR_getpid;
    __asm__ volatile("svc #0"
                     : "+r"(x0)
                     : "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5), "r"(x8)
                     : "memory", "cc");
#else
    register uint64_t r10 __asm__("r10") = arg2;
    register uint64_t r8 __asm__("r8") = arg3;
    register uint64_t r9 __asm__("r9") = arg4;
    uint64_t number = __NR_getpid;
    __asm__ volatile("syscall"
                     : "+a"(number)
                     : "D"(ARGUS_HOOK_CALL), "S"((uint64_t)debugid), "d"(arg1), "r"(r10), "r"(r8),
                       "r"(r9)
                     : "rcx", "r11", "memory", "cc");
#endif
}

#endif
#endif
