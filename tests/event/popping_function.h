/* What GCC makes of a small function without optimization: behind pop, the row still says that rbp is
 * on the stack (x86-64). */
#ifndef ARGUS_TEST_POPPING_FUNCTION_H
#define ARGUS_TEST_POPPING_FUNCTION_H

#include <signal.h>
#include <stdbool.h>

#if defined(__x86_64__)
#include <stdint.h>
#include <ucontext.h>

extern const char popping_return[]; /* its last instruction */
__asm__(".text\n"
        ".type popping_function, @function\n"
        "popping_function: .cfi_startproc\n"
        "push %rbp\n .cfi_def_cfa_offset 16\n .cfi_offset 6, -16\n"
        "mov %rsp, %rbp\n .cfi_def_cfa_register 6\n"
        "pop %rbp\n .cfi_def_cfa 7, 8\n"
        "popping_return: ret\n"
        ".cfi_endproc\n"
        ".size popping_function, . - popping_function\n");

static void (*popping_take)(int signal, siginfo_t *info, void *context);

/* Follows single steps to the return instruction, and takes the snapshot there. */
static void popping_step(int signal, siginfo_t *info, void *context)
{
    enum { TRAP_FLAG = 0x100 };
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    if (registers[REG_RIP] != (greg_t)(uintptr_t)popping_return)
        return;
    registers[REG_EFL] &= ~(greg_t)TRAP_FLAG;
    popping_take(signal, info, context);
}

/* Calls it; `take` is called as a signal handler at its return instruction. */
static inline __attribute__((always_inline)) bool
popping_call(void (*take)(int signal, siginfo_t *info, void *context))
{
    struct sigaction action = {.sa_sigaction = popping_step, .sa_flags = SA_SIGINFO};
    popping_take = take;
    sigaction(SIGTRAP, &action, NULL);
    __asm__ volatile("pushfq\n orq $0x100, (%%rsp)\n popfq\n call popping_function" ::
                         : "memory", "cc");
    signal(SIGTRAP, SIG_DFL);
    return true;
}
#else
static inline bool popping_call(void (*take)(int signal, siginfo_t *info, void *context))
{
    (void)take;
    return false;
}
#endif

#endif
