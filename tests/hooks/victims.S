/* Functions made of instructions that are hard to move. Each returns a number that is easy to check, f(x). x86-64. */
    .text
.macro function name
    .p2align 4
    .globl \name
    .type \name, @function
\name:
.endm
.macro end name
    .size \name, . - \name
.endm

/* Short instructions: 1, 1, 2, 3 bytes … x + 10 */
function victim_short
    push %rbx
    push %rbp
    mov %edi, %ebx
    lea 10(%rbx), %eax
    pop %rbp
    pop %rbx
    ret
end victim_short

/* Data named by rip, with an immediate behind the displacement. x + 7, flags kept. */
function victim_rip
    cmpl $7, constant(%rip)
    jne 1f
    mov constant(%rip), %eax
    add %edi, %eax
    ret
1:  xor %eax, %eax
    ret
end victim_rip

/* Keeps data in the red zone, and flags over the window. 2 * x + 1 if x is odd, else 2 * x. */
function victim_red_zone
    mov %rdi, -8(%rsp)
    mov %rdi, -128(%rsp)
    test $1, %dil
    mov -8(%rsp), %rax
    jz 1f
    add -128(%rsp), %rax
    inc %rax
    ret
1:  add -128(%rsp), %rax
    ret
end victim_red_zone

/* A loop: its branch goes back. The sum of 1 to x. */
function victim_loop
    xor %eax, %eax
1:  add %rdi, %rax
    dec %rdi
    jnz 1b
    ret
end victim_loop

/* Calls, of all kinds. x + 1 + 2 + 2. */
function victim_call
    push %rbx
    lea 1(%rdi), %rdi
    call add_two
    mov %rax, %rdi
    call *pointer(%rip)
    pop %rbx
    ret
end victim_call

function add_two
    lea 2(%rdi), %rax
    ret
end add_two

/* A call that ends a window at offset 1. x + 2 */
function victim_call_register
    push %rbx
    lea add_two(%rip), %rbx
    nop
    nop
    call *%rbx
    pop %rbx
    ret
end victim_call_register

/* A jump out, as compilers make of a last call. x + 2 */
function victim_tail
    nop
    jmp add_two
end victim_tail

/* A table of jumps, relative to itself. x is 0 to 3: 100 + x */
function victim_switch
    lea table(%rip), %rdx
    movslq (%rdx, %rdi, 4), %rax
    add %rdx, %rax
    jmp *%rax
case0:
    nop
    mov $100, %eax
    ret
case1:
    mov $101, %eax
    ret
case2:
    nop
case2b: /* the table leads behind the nop */
    mov $102, %eax
    ret
case3:
    mov $103, %eax
    ret
end victim_switch

/* Cannot be moved. x + 1 */
function victim_jrcxz
    mov %rdi, %rcx
    jrcxz 1f
    lea 1(%rcx), %rax
    ret
1:  mov $1, %eax
    ret
end victim_jrcxz

/* Too short. */
function victim_tiny
    xor %eax, %eax
    ret
    xor %edx, %edx
    ret
end victim_tiny

/* Its middle is the target of another function, far away, whose branch has 32 bits. x + 3 */
function victim_entered
    nop
    nop
victim_entered_behind:
    lea 3(%rdi), %rax
    ret
end victim_entered

function enters
    jmp.d32 victim_entered_behind
end enters

/* A short jump over a neighbour, as in glibc's mempcpy. x + 3 */
function enters_over
    jmp victim_entered_over_behind
end enters_over

function between
    ret
end between

function victim_entered_over
    nop
    nop
victim_entered_over_behind:
    lea 3(%rdi), %rax
    ret
end victim_entered_over

/* What Capstone 4 does not know, vpcmpeqb (%rdi), %ymm16, %k0, and vpcmpeqb of what rip names. Not executed. x + 1 */
function victim_vector
    test %rdi, %rdi
    jns 1f
    .byte 0x62, 0xf3, 0x7d, 0x20, 0x3f, 0x07, 0
    .byte 0x62, 0xf3, 0x7d, 0x20, 0x3f, 0x05, 0x10, 0, 0, 0, 0
1:  lea 1(%rdi), %rax
    ret
end victim_vector

/* A pointer in data leads into it (computed goto). x + 4 */
function victim_computed
    nop
    nop
victim_computed_behind:
    lea 4(%rdi), %rax
    ret
end victim_computed

/* Data among the code, whose bytes are good instructions: mov $0x6, %eax twice. x + 6 */
function victim_with_data
    mov numbers(%rip), %eax
    shr $8, %rax
    add %rdi, %rax
    ret
numbers:
    .byte 0xb8, 6, 0, 0, 0, 0xb8, 6, 0, 0, 0
end victim_with_data

/* Computed goto by an address that the code takes. x + 8 */
function victim_taken
    lea 1f(%rip), %rax
    add $2, %rdi
    jmp *%rax
    .skip 3, 0xcc
2:  nop
    nop
1:  lea 6(%rdi), %rax
    ret
end victim_taken

/* The same, and the middle is what follows another instruction. x + 9 */
function victim_taken_middle
    nop
    nop
1:  add $2, %rdi
    lea 7(%rdi), %rax
    cmp $1000, %rdi
    jb 2f
    lea 1b(%rip), %rax
    jmp *%rax
2:  ret
end victim_taken_middle

/* A table of jumps in the code itself. x is 0 or 1: 200 + x */
function victim_switch_inside
    lea 1f(%rip), %rdx
    movslq (%rdx, %rdi, 4), %rax
    add %rdx, %rax
    jmp *%rax
    .p2align 2
1:  .long 2f - 1b, 3f - 1b
2:  nop
    nop
3:  add $200, %rdi
    mov %rdi, %rax
    ret
end victim_switch_inside

/* All registers that a shell function may not change. x + 5, or 0 if one was. */
function victim_registers
    movabs $0x1111111111111111, %rax
    movabs $0x2222222222222222, %rcx
    movq %rax, %xmm0
    movq %rcx, %xmm15
    mov %rax, %r8
    mov %rcx, %r9
    mov %rax, %r10
    mov %rcx, %r11
    stc
victim_registers_here:
    lea 5(%rdi), %rdx
    jnc 1f
    cmp %rax, %r8
    jne 1f
    cmp %rcx, %r9
    jne 1f
    cmp %rax, %r10
    jne 1f
    cmp %rcx, %r11
    jne 1f
    movq %xmm0, %r8
    movq %xmm15, %r9
    cmp %rax, %r8
    jne 1f
    cmp %rcx, %r9
    jne 1f
    mov %rdx, %rax
    ret
1:  xor %eax, %eax
    ret
end victim_registers

    .section .rodata
    .p2align 2
table:
    .long case0 - table, case1 - table, case2b - table, case3 - table
    .long case1 + 2 - table /* what follows is no entry */

    .data
    .hidden add_two
    .p2align 3
constant:
    .long 7
    .long 0
pointer:
    .quad add_two
    .quad victim_computed_behind
    .section .note.GNU-stack,"",@progbits
