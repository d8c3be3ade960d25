/* From a trampoline into a shell function and back. The trampoline has gone below the red zone, saved rax, put the running hook
 * into rax and called; argus_hook.h names the words that are on the stack then, in the same order.
 *
 * Our own shell function is compiled without floating point, so argus_hook_enter need not save those registers; a user's is
 * not, so argus_hook_enter_full does (xsave; the mask and the size are found out once, entry_state.c).
 */
#if defined(__x86_64__)
#ifdef __APPLE__
#define NAME(x) _##x
#define HIDDEN(x) .private_extern _##x
#define SECTION .section __TEXT,__text
#else
#define NAME(x) x
#define HIDDEN(x) .hidden x; .type x, @function
#define SECTION .text
#endif

#define RED_ZONE 128
#define WORDS    17 /* pushed below the red zone, without the stack pointer */

.macro save
    pushfq
    cld
    pushq %rcx
    pushq %rdx
    pushq %rbx
    pushq %rbp
    pushq %rsi
    pushq %rdi
    pushq %r8
    pushq %r9
    pushq %r10
    pushq %r11
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    leaq RED_ZONE + 8 * WORDS(%rsp), %rcx
    pushq %rcx
    movq %rax, %rdi
    movq %rsp, %rsi
    movq %rsp, %rbp
.endm

.macro restore
    leaq 8(%rbp), %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %r11
    popq %r10
    popq %r9
    popq %r8
    popq %rdi
    popq %rsi
    popq %rbp
    popq %rbx
    popq %rdx
    popq %rcx
    popfq
    ret
.endm

    SECTION
    .globl NAME(argus_hook_enter)
    HIDDEN(argus_hook_enter)
NAME(argus_hook_enter):
    save
    andq $-16, %rsp
    call *(%rdi)
    restore

    .globl NAME(argus_hook_enter_full)
    HIDDEN(argus_hook_enter_full)
NAME(argus_hook_enter_full):
    save
    subq NAME(hook_state_bytes)(%rip), %rsp
    andq $-64, %rsp
    xorl %eax, %eax /* the header, which xsave does not write whole */
    movq %rax, 512(%rsp)
    movq %rax, 520(%rsp)
    movq %rax, 528(%rsp)
    movq %rax, 536(%rsp)
    movq %rax, 544(%rsp)
    movq %rax, 552(%rsp)
    movq %rax, 560(%rsp)
    movq %rax, 568(%rsp)
    movl NAME(hook_state_mask)(%rip), %eax
    movl NAME(hook_state_mask)+4(%rip), %edx
    xsave64 (%rsp)
    call *(%rdi)
    movl NAME(hook_state_mask)(%rip), %eax
    movl NAME(hook_state_mask)+4(%rip), %edx
    xrstor64 (%rsp)
    restore
#endif
#if defined(__linux__)
    .section .note.GNU-stack,"",@progbits
#endif
