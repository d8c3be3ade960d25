/* A user's shell function: counts its calls, and overwrites every register that it may, including
 * floating-point ones. */
#include <stdatomic.h>
#include <stdlib.h>

#include "argus_hook.h"

extern atomic_ulong counting_shell_hits;
atomic_ulong counting_shell_hits;

void counting_shell(const struct argus_hook *hook, struct argus_hook_context *context);

void counting_shell(const struct argus_hook *hook, struct argus_hook_context *context)
{
    (void)hook, (void)context;
    counting_shell_hits++;
    free(malloc(100));
#if defined(__x86_64__)
    __asm__ volatile(
        "pxor %%xmm0, %%xmm0\n pxor %%xmm15, %%xmm15\n xor %%r8, %%r8\n xor %%r9, %%r9\n"
        "xor %%r10, %%r10\n xor %%r11, %%r11\n xor %%rax, %%rax\n xor %%rcx, %%rcx" ::
            : "xmm0", "xmm15", "r8", "r9", "r10", "r11", "rax", "rcx", "cc");
#elif defined(__aarch64__)
    __asm__ volatile("movi v0.16b, #0\n movi v31.16b, #0\n mov x8, #0\n mov x9, #0\n mov x15, #0\n"
                     "mov x16, #0\n mov x17, #0\n cmp sp, #0" ::
                         : "v0", "v31", "x8", "x9", "x15", "x16", "x17", "cc");
#endif
}
