/* As entry_x86_64.S. The trampoline has made the frame (33 words and room), saved x16, x17 and x30 in it, and put the running
 * hook into x16. */
#if defined(__aarch64__)
#ifdef __APPLE__
#define NAME(x) _##x
#define HIDDEN(x) .private_extern _##x
#define SECTION .section __TEXT,__text
#else
#define NAME(x) x
#define HIDDEN(x) .hidden x; .type x, %function
#define SECTION .text
#endif

#define FRAME    0x1a0
#define FLAGS_AT 248
#define SP_AT    256

.macro save
    stp x0, x1, [sp]
    stp x2, x3, [sp, #16]
    stp x4, x5, [sp, #32]
    stp x6, x7, [sp, #48]
    stp x8, x9, [sp, #64]
    stp x10, x11, [sp, #80]
    stp x12, x13, [sp, #96]
    stp x14, x15, [sp, #112]
    stp x18, x19, [sp, #144]
    stp x20, x21, [sp, #160]
    stp x22, x23, [sp, #176]
    stp x24, x25, [sp, #192]
    stp x26, x27, [sp, #208]
    stp x28, x29, [sp, #224]
    mrs x1, nzcv
    str x1, [sp, #FLAGS_AT]
    add x1, sp, #FRAME
    str x1, [sp, #SP_AT]
    mov x0, x16
    mov x1, sp
    mov x19, sp
    mov x20, x30
    ldr x17, [x16]
.endm

.macro restore
    mov x30, x20
    ldr x1, [sp, #FLAGS_AT]
    msr nzcv, x1
    ldp x0, x1, [sp]
    ldp x2, x3, [sp, #16]
    ldp x4, x5, [sp, #32]
    ldp x6, x7, [sp, #48]
    ldp x8, x9, [sp, #64]
    ldp x10, x11, [sp, #80]
    ldp x12, x13, [sp, #96]
    ldp x14, x15, [sp, #112]
    ldp x18, x19, [sp, #144]
    ldp x20, x21, [sp, #160]
    ldp x22, x23, [sp, #176]
    ldp x24, x25, [sp, #192]
    ldp x26, x27, [sp, #208]
    ldp x28, x29, [sp, #224]
    ret
.endm

    SECTION
    .p2align 2
    .globl NAME(argus_hook_enter)
    HIDDEN(argus_hook_enter)
NAME(argus_hook_enter):
    save
    blr x17
    restore

    .p2align 2
    .globl NAME(argus_hook_enter_full)
    HIDDEN(argus_hook_enter_full)
NAME(argus_hook_enter_full):
    save
    sub sp, sp, #528
    stp q0, q1, [sp]
    stp q2, q3, [sp, #32]
    stp q4, q5, [sp, #64]
    stp q6, q7, [sp, #96]
    stp q8, q9, [sp, #128]
    stp q10, q11, [sp, #160]
    stp q12, q13, [sp, #192]
    stp q14, q15, [sp, #224]
    stp q16, q17, [sp, #256]
    stp q18, q19, [sp, #288]
    stp q20, q21, [sp, #320]
    stp q22, q23, [sp, #352]
    stp q24, q25, [sp, #384]
    stp q26, q27, [sp, #416]
    stp q28, q29, [sp, #448]
    stp q30, q31, [sp, #480]
    mrs x2, fpsr
    mrs x3, fpcr
    str x2, [sp, #512]
    str x3, [sp, #520]
    blr x17
    ldr x2, [sp, #512]
    ldr x3, [sp, #520]
    msr fpsr, x2
    msr fpcr, x3
    ldp q0, q1, [sp]
    ldp q2, q3, [sp, #32]
    ldp q4, q5, [sp, #64]
    ldp q6, q7, [sp, #96]
    ldp q8, q9, [sp, #128]
    ldp q10, q11, [sp, #160]
    ldp q12, q13, [sp, #192]
    ldp q14, q15, [sp, #224]
    ldp q16, q17, [sp, #256]
    ldp q18, q19, [sp, #288]
    ldp q20, q21, [sp, #320]
    ldp q22, q23, [sp, #352]
    ldp q24, q25, [sp, #384]
    ldp q26, q27, [sp, #416]
    ldp q28, q29, [sp, #448]
    ldp q30, q31, [sp, #480]
    add sp, sp, #528
    restore
#endif
#if defined(__linux__)
    .section .note.GNU-stack,"",%progbits
#endif
